// Shared by formats with tags: a stretch of text with inline tags in it becomes a segment with marks.
//
//   SegmentBuilder builder({.escape = escape_xml});
//   builder.border("<p>");                      // a block's tag ends the segment before it and stays as it is
//   builder.text("Fish ");                      // literally, as the file has it
//   builder.text("&amp;", "&");                 // a character reference, and what it stands for
//   builder.open("<b>", "b");                   // an inline tag becomes a mark
//   builder.text(" chips");
//   builder.close("</b>", "b");
//   builder.border("</p>");
//   Document document = std::move(builder).finish();
//
// The bytes that are passed, one after the other, are the file. Tags that do not nest within one segment (unclosed,
// crossed, or around blocks) become points or are kept, so a format need not check that they match. Everything
// before the first word and after the last is kept outside the segment, including tags around all of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"
#include "document/segments/stretch.h"

namespace dragoman::internal {

struct MarkupAttribute {
  std::string_view name;
  TextSpan value = {};  // in bytes of the tag, without quotes; empty if there is none
  char quote = 0;       // " or ', or 0
};

// Of a start tag or an empty one, from its < to its >, by HTML's rules, which also fit XML. The first 1,000.
std::vector<MarkupAttribute> attributes(std::string_view tag);

class SegmentBuilder {
 public:
  struct Settings {
    decltype(DocumentSegment::escape) escape = nullptr;  // of segments
    decltype(DocumentSegment::compose) compose = nullptr;
    StretchRules rules = {};
  };
  explicit SegmentBuilder(Settings settings) : settings_(settings) {}

  void text(std::string_view literal);
  void text(std::string_view bytes, std::string_view decoded);  // cannot be divided: a character reference

  // A pair of inline tags; the name, or whatever identifies it, finds the partner.
  void open(std::string_view bytes, std::string_view name);
  // In a translation `written` replaces `bytes`, if it is not empty.
  void close(std::string_view bytes, std::string_view name, std::string_view written = {});

  void point(std::string_view bytes);       // a mark between words that shows no text: an image, a comment
  void line_break(std::string_view bytes);  // a point that reads as a space
  // Words that must not change, such as code in a sentence: `shown` is how they read; empty if unknown.
  void fixed(std::string_view bytes, std::string_view shown);
  void border(std::string_view bytes);  // ends the segment

  // From here on other rules: within <pre>, for instance. After a border only.
  void set_white_space(WhiteSpace white_space);
  void set_escape(std::string (*escape)(std::string_view text));

  // Everything passed between the two is one point of the segment around it, and may have segments of its own: a
  // footnote in a paragraph. Nest at most to a fixed depth. With `shown` it is like `fixed`.
  void begin_nested();
  void end_nested(std::optional<std::string_view> shown = {});

  // A segment within bytes that are passed elsewhere, such as an attribute's value in a tag: returns its marker there.
  // Returns the bytes themselves if they have no letters. They are the whole value: white space around it is kept.
  std::string attribute(std::string_view bytes, std::string_view decoded,
                        std::string (*escape)(std::string_view));

  Document finish() &&;

 private:
  struct Frame {               // the file, or the bytes between begin_nested and end_nested
    std::string out;           // its bytes up to the last border, with markers for segments
    MarkupStretch stretch;     // and since then
    std::vector<size_t> open;  // items in it without a partner yet
  };

  size_t add(MarkupItem::Kind kind, std::string_view bytes, std::string_view shown = {});
  void end_segment();

  Settings settings_;
  FlatDocument document_;
  std::vector<Frame> frames_ = {{}};
};

}  // namespace dragoman::internal
