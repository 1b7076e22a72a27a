#include "document/markdown/composer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "document/markdown/pieces.h"
#include "document/markdown/read_back.h"
#include "document/markdown/text.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using PieceKind = MarkdownPiece::Kind;
using WrittenKind = WrittenMarkdown::Kind;

// How often a segment is read again: seldom if it is long.
size_t max_readings(size_t bytes) { return std::clamp<size_t>((size_t{1} << 20) / (bytes + 1), 8, 200); }

bool is_in_punctuation(char32_t c) { return is_punctuation(c) || is_symbol(c); }

// A span of code whose first line could be the fence of a block.
std::string code_on_one_line(std::string_view code) {
  std::string line;
  for (size_t at = 0; at < code.size();) {
    const size_t end = std::min(code.find_first_of("\n\r", at), code.size());
    line += code.substr(at, end - at);
    if (end == code.size()) break;
    line += ' ';
    at = std::min(code.find_first_not_of(" \t>\n\r", end), code.size());
  }
  return line;
}

class Composer {
 public:
  Composer(const DocumentSegment& segment, std::vector<MarkdownPiece> pieces)
      : segment_(segment), in_cell_(segment.escape("a|a") != "a|a"), pieces_(std::move(pieces)) {}

  std::string compose() {
    size_t bytes = 0;
    for (const MarkdownPiece& piece : pieces_) bytes += piece.text.size();
    std::vector<WrittenMarkdown> written = write();
    std::optional<size_t> difference = find_difference(written, in_cell_);
    for (size_t left = max_readings(bytes); difference; --left) {
      if (const DocumentMark* mark = emphasis_near(*difference); mark != nullptr && left > 0) {
        change_form(mark);
      } else if (!all_is_escaped_) {
        for (const MarkdownPiece& piece : pieces_)
          if (has_other_forms(piece)) forms_[piece.mark] = Form::html;
        all_is_escaped_ = true;
      } else {
        break;
      }
      written = write();
      difference = find_difference(written, in_cell_);
    }
    std::string out;
    for (size_t i = 0; i < written.size(); ++i)
      if (!pieces_[i].elsewhere) out += written[i].bytes;
    return out;
  }

 private:
  // Of an emphasis, in the order in which they are tried.
  enum class Form { as_it_was, other_character, without_punctuation, html };

  Form form_of(const DocumentMark* mark) const {
    const auto form = forms_.find(mark);
    return form != forms_.end() ? form->second : Form::as_it_was;
  }

  std::vector<WrittenMarkdown> write() const {
    std::vector<WrittenMarkdown> written(pieces_.size());
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (!pieces_[i].is_text()) written[i] = written_mark(pieces_[i]);
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const std::string_view before = i > 0 ? written[i - 1].bytes : std::string_view();
      const std::string_view after = i + 1 < pieces_.size() ? written[i + 1].bytes : std::string_view();
      if (pieces_[i].is_text()) {
        const bool after_mark = i > 0 && pieces_[i - 1].kind == PieceKind::whole;
        written[i] = {.bytes = escaped(pieces_[i].text, before, after, after_mark), .shown = pieces_[i].text};
      } else if (written[i].bytes.starts_with('`')) {
        written[i].bytes = code_on_one_line(written[i].bytes);
        if (before.ends_with('`')) written[i].bytes.insert(0, " ");  // or two spans of code would be one
      }
    }
    return written;
  }

  WrittenMarkdown written_mark(const MarkdownPiece& piece) const {
    const bool opens = piece.kind == PieceKind::open;
    if (is_markdown_link(piece.mark))
      return {opens ? WrittenKind::link : WrittenKind::end_of_link, piece.text};
    const std::string_view emphasis = emphasis_of(piece.mark);
    if (emphasis.empty()) return {WrittenKind::opaque, piece.text};
    const bool strong = emphasis.size() == 2;
    const Form form = form_of(piece.mark);
    if (form == Form::html)
      return {WrittenKind::opaque, std::string(opens ? "<" : "</") + (strong ? "strong>" : "em>")};
    const bool is_star = emphasis[0] == '*';
    const bool star = form == Form::without_punctuation || (form == Form::as_it_was) == is_star;
    const WrittenKind kind = strong ? (opens ? WrittenKind::strong : WrittenKind::end_of_strong)
                                    : (opens ? WrittenKind::emphasis : WrittenKind::end_of_emphasis);
    return {kind, std::string(emphasis.size(), star ? '*' : '_')};
  }

  // Characters that are markup only together with the mark beside them need a backslash, too.
  std::string escaped(std::string_view text, std::string_view before, std::string_view after,
                      bool after_mark) const {
    std::string bytes = all_is_escaped_ ? escape_all_markdown(text) : segment_.escape(text);
    const bool joins_link = after_mark && before.ends_with(']') && (text[0] == '(' || text[0] == ':');
    const bool joins_bracket = before.ends_with('[') && text[0] == '^';
    const bool joins_tilde = before.ends_with('~') && text[0] == '~';
    if ((joins_link || joins_bracket || joins_tilde) && bytes[0] != '\\') bytes.insert(0, "\\");
    const bool becomes_image = text.ends_with('!') && after.starts_with('[');
    const bool becomes_tildes = text.ends_with('~') && after.starts_with('~');
    if ((becomes_image || becomes_tildes) && !bytes.ends_with("\\!") && !bytes.ends_with("\\~"))
      bytes.insert(bytes.size() - 1, "\\");
    return bytes;
  }

  // Both halves of an emphasis must have the same, so not where one is outside the segment.
  static bool has_other_forms(const MarkdownPiece& piece) {
    return !emphasis_of(piece.mark).empty() && piece.mark->half == DocumentMark::Half::none;
  }

  // The last emphasis that begins or ends at the piece or before it, or else the first after it.
  const DocumentMark* emphasis_near(size_t piece) const {
    const auto is_candidate = [&](const MarkdownPiece& other) {
      return has_other_forms(other) && form_of(other.mark) != Form::html;
    };
    const auto middle = pieces_.begin() + static_cast<std::ptrdiff_t>(std::min(piece + 1, pieces_.size()));
    const auto before = std::find_if(std::make_reverse_iterator(middle), pieces_.rend(), is_candidate);
    if (before != pieces_.rend()) return before->mark;
    const auto after = std::find_if(middle, pieces_.end(), is_candidate);
    return after != pieces_.end() ? after->mark : nullptr;
  }

  void change_form(const DocumentMark* mark) {
    const Form form = form_of(mark);
    forms_[mark] = form == Form::as_it_was                                   ? Form::other_character
                   : form == Form::other_character && move_punctuation(mark) ? Form::without_punctuation
                                                                             : Form::html;
  }

  // Moves the punctuation at the ends of the mark's text outside.
  bool move_punctuation(const DocumentMark* mark) {
    const auto open = std::ranges::find(pieces_, mark, &MarkdownPiece::mark);
    const auto close = std::find_if(open + 1, pieces_.end(), [&](const auto& p) { return p.mark == mark; });
    MarkdownPiece &first = open[1], &last = close[-1];
    const size_t before = first.is_text() ? leading_bytes(first.text, is_in_punctuation) : 0;
    if (&first == &last && before == first.text.size()) return false;
    const size_t after = last.is_text() ? trailing_bytes(last.text, is_in_punctuation) : 0;
    if (before + after == 0) return false;
    MarkdownPiece left = {.text = first.text.substr(0, before)},
                  right = {.text = last.text.substr(last.text.size() - after)};
    last.text.resize(last.text.size() - after);
    first.text.erase(0, before);
    const auto begin = open - pieces_.begin();
    pieces_.insert(close + 1, std::move(right));
    pieces_.insert(pieces_.begin() + begin, std::move(left));
    merge_texts(pieces_);
    return true;
  }

  const DocumentSegment& segment_;
  const bool in_cell_;
  std::vector<MarkdownPiece> pieces_;
  std::map<const DocumentMark*, Form> forms_;
  bool all_is_escaped_ = false;
};

}  // namespace

std::string compose_markdown(const DocumentSegment& segment, std::vector<RenderedPiece> pieces) {
  return Composer(segment, arranged(pieces, segment.text)).compose();
}

}  // namespace dragoman::internal
