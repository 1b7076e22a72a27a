// A document: a file as segments of text, which are translated, and everything else, which stays byte for byte.
//
//   const Document document = document_format("", "page.html").read(bytes, settings);
//   for (const DocumentSegment& segment : document.segments) rendered.push_back(render(segment, translation, links));
//   const std::string file = document.write(rendered);
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/lines.h"
#include "text/spans.h"

namespace dragoman::internal {

// A piece of the file inside a segment's text that comes out exactly once, at its place among the translated words.
struct DocumentMark {
  // A span encloses words: a pair of tags. A point is between words: a single tag, an image. A cut replaces the white
  // space between words: the border of two subtitles; cuts keep their order, and are never inside a span. Fixed
  // words come out as the file has them: code in a sentence.
  enum class Kind { span, point, cut, fixed };
  Kind kind = Kind::span;
  TextSpan place = {};  // in bytes of the segment's text: of a point it is empty
  size_t depth = 0;     // the number of spans that it is inside
  // Of a point: it opens or closes a pair whose other half is outside the segment.
  enum class Half { none, open, close };
  Half half = Half::none;
  std::string open;        // as the file has it; the whole mark unless it is a span
  std::string close = {};  // of a span
  bool touches = false;    // of fixed words: they may touch others, as directives of format strings do
  // Written around each stretch of text directly inside this span: a run of an office document.
  std::string text_open = {}, text_close = {};
};

// A translation with its marks consists of these, one after the other.
struct RenderedPiece {
  enum class Kind {
    text,
    open,
    close,
    whole
  };  // `open` and `close` are of a span, `whole` is any other mark
  Kind kind = Kind::text;
  const DocumentMark* mark = nullptr;  // of text: the innermost span around it; null: it is outside all spans
  std::string_view text = {};
};

// Text that is translated as a whole: a paragraph, a table's cell, a message.
struct DocumentSegment {
  std::string text;      // plain text without markup, neither empty nor surrounded by white space
  std::string original;  // its bytes in the file, which are written where the translation is the text itself
  // As they open: each span is followed by what is inside it.
  std::vector<DocumentMark> marks = {};
  std::string text_open = {}, text_close = {};                    // the same for text outside all spans
  std::function<std::string(std::string_view text)> escape = {};  // text as the file has it; null: as it is
  // For formats in which more depends on each other than a text and its escapes; null: the pieces one after the other.
  std::string (*compose)(const DocumentSegment& segment, std::vector<RenderedPiece> pieces) = nullptr;
};

// Where a segment's translation is from. The later a kind stands here, the more somebody should look at it.
struct TranslationOrigin {
  enum class Kind {
    copied,     // there was nothing to translate
    confirmed,  // a memory has it for this very text
    similar,    // translated with a memory's similar segments in view
    machine
  };
  struct Match {
    std::string source, target;
    double similarity = 0;  // to the segment
  };
  Kind kind = Kind::machine;
  std::vector<Match> matches = {};  // the similar segments, the most similar first
};
using WriteWithOrigins = std::function<std::string(std::span<const std::string> rendered,
                                                   std::span<const TranslationOrigin> origins)>;

struct Document {
  std::vector<DocumentSegment> segments;
  // The file, with these bytes in place of the segments, in their order.
  std::function<std::string(std::span<const std::string> rendered)> write;
  // The same file, which also says where each segment's translation is from; null where the format has no place for it.
  WriteWithOrigins write_with_origins = {};
};

// `write` gets no origins where the file is not to say anything about them.
Document document_with_origins(std::vector<DocumentSegment> segments, WriteWithOrigins write);

struct DocumentSettings {
  std::string name;                // of the file, for messages
  std::string from = {}, to = {};  // languages, for formats that name them; may be empty
  std::string columns = {};  // of a table, by name or number, that are translated; empty: those with text
  bool mark_unconfirmed = false;  // message catalogues say of which translations the origin is no memory
};

// Throws an Error with the line if the bytes are not UTF-8.
void check_utf8(std::string_view bytes, const DocumentSettings& settings);

// Text without the white space around it, as a span of its bytes.
TextSpan trimmed(std::string_view text);

// Text as HTML shows it: without white space around it, and with single spaces.
std::string collapsed(std::string_view text);
// Appends text with a space for each stretch of white space, also where a space is before it.
void append_collapsed(std::string& text, std::string_view more);

std::string escape_markup(std::string_view text);  // &, < and >

// How fixed words read in the segment's text; empty if they are too long for a sentence, in which case they become a
// point.
std::string fixed_words(std::string_view shown);

// Whether there is anything to translate: numbers and punctuation are the same in every language.
bool has_letters(std::string_view text);

// The same document, with `change` applied to each file that it writes.
Document with_change(Document document, std::function<std::string(const std::string& written)> change);

// Reads what is after a byte order mark, if there is one, as a document of the whole file.
Document read_after_mark(std::string_view bytes, const std::function<Document(std::string_view)>& read);

// The document of a file that consists of segments and of bytes between them.
class FlatDocument {
 public:
  void keep(std::string_view bytes);  // stays as it is
  void add(DocumentSegment segment);
  void add_text(std::string_view text);  // plain text; without letters it stays as it is
  // A segment within bytes that are kept or within another segment, such as an attribute in a tag. Returns a marker to
  // put in its place: in the bytes passed to `keep`, or in both `original` and a mark's `open` or `close`.
  std::string nest(DocumentSegment segment);
  Document finish() &&;

 private:
  std::string file_;  // with markers for segments
  std::vector<DocumentSegment> segments_;
};

}  // namespace dragoman::internal
