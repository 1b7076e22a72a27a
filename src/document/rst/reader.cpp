// reStructuredText: paragraphs, titles, list items and admonitions are segments; literal text, tables, comments and
// most directives stay.
#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "document/readers.h"
#include "document/rst/inlines.h"
#include "document/rst/titles.h"

namespace dragoman::internal {
namespace {

// A line and its parts: indentation, words, and the rest with the line break.
struct RstLine {
  std::string_view bytes, text;
  size_t indent = 0;

  bool blank() const { return text.empty(); }
  std::string_view before() const { return bytes.substr(0, indent); }
  std::string_view after() const { return bytes.substr(indent + text.size()); }
};

std::vector<RstLine> rst_lines(std::string_view file) {
  std::vector<RstLine> lines;
  while (!file.empty()) {
    const size_t end = std::min(file.find('\n'), file.size() - 1) + 1;
    RstLine line{.bytes = file.substr(0, end)};
    line.indent = std::min(line.bytes.find_first_not_of(" \t"), end);
    line.text = stripped(line.bytes.substr(line.indent), " \t\r\n");
    lines.push_back(line);
    file.remove_prefix(end);
  }
  return lines;
}

bool is_table_border(std::string_view text) {
  const bool simple =
      text.starts_with('=') && text.find_first_not_of("= ") == text.npos && text.find(' ') != text.npos;
  return simple || text.starts_with("+-") || text.starts_with("+=");
}

// Directives whose content is text.
bool has_text(std::string_view directive) {
  static constexpr std::array<std::string_view, 17> names = {
      "note",      "warning",    "tip",        "important", "caution",   "danger",
      "attention", "hint",       "error",      "seealso",   "topic",     "sidebar",
      "epigraph",  "admonition", "pull-quote", "container", "highlights"};
  return std::ranges::find(names, directive) != names.end();
}

// The mark of a list item with the white space after it; 0: it is none.
size_t list_mark(std::string_view text) {
  size_t at = 0;
  for (const std::string_view bullet : {"-", "*", "+", "•", "‣", "⁃"})
    if (text.starts_with(bullet)) at = bullet.size();
  if (at == 0) {
    if (text.starts_with('(')) ++at;
    const size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == begin && at < text.size() && (is_letter(text[at]) || text[at] == '#')) ++at;
    if (at == begin || at == text.size() || (text[at] != '.' && text[at] != ')')) return 0;
    ++at;
  }
  const size_t words = std::min(text.find_first_not_of(' ', at), text.size());
  return words > at && words < text.size() ? words : 0;
}

// Of a field of a function's description, or an option: ":param x: ", "-a, --all  ".
size_t field_mark(std::string_view text) {
  if (text.starts_with('-')) {
    const size_t end = text.find("  ");
    return end != text.npos && text.size() > 1 && text[1] != ' ' ? text.find_first_not_of(' ', end) : 0;
  }
  for (const std::string_view name : {":param ", ":arg ", ":return", ":raises ", ":var "}) {
    const size_t end = text.starts_with(name) ? text.find(": ") : text.npos;
    if (end != text.npos) return text.find_first_not_of(' ', end + 1);
  }
  return 0;
}

// An option whose description is on the lines below it: "-a, --all", "--file=NAME".
bool is_option(std::string_view text) {
  if (!text.starts_with('-') || text.find("  ") != text.npos) return false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(", ", at), text.size());
    const std::string_view one = text.substr(at, end - at);
    const bool has_name = one.size() > 1 && one[0] == '-' && one[1] != ' ' && !is_rst_adornment(one);
    if (!has_name || std::ranges::count(one, ' ') > 1) return false;
    at = std::min(end + 2, text.size());
  }
  return true;
}

// ":name: value", but not text that begins with a role, as ":name:`text`".
bool is_field(std::string_view text) {
  const size_t end = text.starts_with(':') ? text.find(':', 1) : text.npos;
  return end != text.npos && end > 1 && (end + 1 == text.size() || text[end + 1] == ' ');
}

class RstReader {
 public:
  explicit RstReader(std::string_view file) : lines_(rst_lines(file)), titles_(file) {}

  Document document() && {
    while (at_ < lines_.size()) read_block();
    return with_change(std::move(builder_).finish(),
                       [titles = std::move(titles_)](const std::string& written) {
                         return titles.finish(with_rst_borders(written));
                       });
  }

 private:
  const RstLine& line() const { return lines_[at_]; }
  std::string_view text_at(size_t index) const {
    return index < lines_.size() ? lines_[index].text : std::string_view();
  }

  void keep_line() { builder_.border(lines_[at_++].bytes); }

  // All lines that are blank or deeper than this.
  void keep_deeper(size_t indent) {
    while (at_ < lines_.size() && (line().blank() || line().indent > indent)) keep_line();
  }

  void keep_to_blank() {
    while (at_ < lines_.size() && !line().blank()) keep_line();
  }

  void read_block() {
    const std::string_view text = line().text;
    if (text.empty()) return keep_line();
    if (text == ".." || text.starts_with(".. ")) return read_explicit();
    if (text == "::") return read_literal_after(line().indent);
    if (text.starts_with("__ ") || (is_field(text) && field_mark(text) == 0)) return read_field();
    if (text.starts_with(">>>")) return keep_to_blank();
    if (is_option(text) && at_ + 1 < lines_.size() && lines_[at_ + 1].indent > line().indent)
      return keep_line();
    if (is_table_border(text)) return read_table();
    if (is_rst_adornment(text) && is_rst_adornment(text_at(at_ + 2)) && !text_at(at_ + 1).empty() &&
        text_at(at_ + 2)[0] == text[0]) {
      keep_line();
      return read_title(true);
    }
    if (is_rst_adornment(text)) return keep_line();
    if (is_rst_adornment(text_at(at_ + 1)) && lines_[at_ + 1].indent == 0 && line().indent == 0 &&
        (text_at(at_ + 1).size() >= 4 || text_at(at_ + 1).size() >= rst_columns(text)))
      return read_title(false);
    read_paragraph(line().indent, 0);
  }

  void read_field() {
    const RstLine first = line();
    keep_line();
    while (at_ < lines_.size() && !line().blank() && line().indent > first.indent) keep_line();
  }

  // To the last border: a table may have blank lines, after which another border follows.
  void read_table() {
    if (line().text.starts_with('+')) return keep_to_blank();
    size_t last = at_ + 1;
    while (!no_more_borders_ && last < lines_.size() &&
           !(is_table_border(text_at(last)) && text_at(last + 1).empty()))
      ++last;
    no_more_borders_ |= last >= lines_.size();
    if (no_more_borders_) last = at_;
    while (at_ <= last) keep_line();
    keep_to_blank();
  }

  void read_title(bool has_line_over) {
    const RstLine title = line();
    ++at_;
    builder_.border(std::string(title.before()) + titles_.begin(title.text, title.indent, has_line_over));
    add_rst_inlines(builder_, title.text);
    builder_.border(RstTitles::end() + std::string(title.after()));
    keep_line();
  }

  // Directives, footnotes, targets and comments.
  void read_explicit() {
    const RstLine first = line();
    const std::string_view text = stripped(first.text.substr(2));
    const size_t colons = text.find("::");
    const bool directive = colons != text.npos && text.find_first_of(" \t|") > colons;
    const bool note = text.starts_with('[') && text.find("] ") != text.npos;
    if (!note && !(directive && has_text(text.substr(0, colons)))) {
      keep_line();
      return keep_deeper(first.indent);
    }
    const std::string_view words = stripped(text.substr(note ? text.find(']') + 1 : colons + 2));
    if (words.empty()) {
      keep_line();
    } else {
      read_paragraph(first.indent, static_cast<size_t>(words.data() - first.text.data()));
    }
    if (directive)
      while (at_ < lines_.size() && line().text.starts_with(':')) keep_line();
  }

  // Lines of one indentation; those after the first of a list item are deeper. `mark`: bytes before its words.
  void read_paragraph(size_t indent, size_t mark) {
    const RstLine first = line();
    const size_t list = mark == 0 ? list_mark(first.text) : 0;
    const std::string_view words = first.text.substr(list);
    const bool line_block = words.starts_with("| ") || words == "|";
    if (mark == 0)
      mark = line_block ? first.text.find_first_not_of("| ", list) : std::max(list, field_mark(first.text));
    if (mark == first.text.npos) return keep_line();
    const bool is_list = mark > 0 && list == mark;
    builder_.border(first.bytes.substr(0, first.indent + mark));
    size_t end = at_ + 1;
    if (!line_block && end < lines_.size() && may_follow(lines_[end], indent, mark, is_list))
      for (const size_t inner = lines_[end].indent; end < lines_.size() && goes_on(end, inner); ++end) {}
    const char* const begin = first.text.data() + mark;
    const std::string_view last = lines_[end - 1].text;
    std::string_view text(begin, static_cast<size_t>(last.data() + last.size() - begin));
    const bool literal = text.ends_with("::");
    if (literal) text.remove_suffix(2);
    const bool is_term = end == at_ + 1 && end < lines_.size() && !lines_[end].blank() && !line_block &&
                         lines_[end].indent > indent + (is_list ? mark : 0);
    builder_.set_escape(is_term ? escape_rst_term : escape_rst);
    add_rst_inlines(builder_, stripped(text));
    const char* const rest = stripped(text).data() + stripped(text).size();
    const char* const finish = lines_[end - 1].bytes.data() + lines_[end - 1].bytes.size();
    builder_.border(std::string_view(rest, static_cast<size_t>(finish - rest)));
    builder_.set_escape(escape_rst);
    at_ = end;
    if (literal) read_literal(is_list ? indent + mark : indent);
  }

  // As the second line of a paragraph. In a list, a line deeper than the words is the definition of a term.
  static bool may_follow(const RstLine& line, size_t indent, size_t mark, bool is_list) {
    if (line.blank() || (mark == 0 && line.indent != indent)) return false;
    return mark == 0 || (line.indent > indent && (!is_list || line.indent <= indent + mark));
  }

  // The items of a list may lack the blank line before them.
  bool goes_on(size_t index, size_t indent) const {
    const RstLine& next = lines_[index];
    const bool is_item =
        next.text.starts_with("- ") || next.text.starts_with("* ") || next.text.starts_with("| ");
    return !next.blank() && next.indent == indent && !is_item;
  }

  void read_literal_after(size_t indent) {
    keep_line();
    read_literal(indent);
  }

  // Deeper lines, or lines that begin with the same sign.
  void read_literal(size_t indent) {
    while (at_ < lines_.size() && line().blank()) keep_line();
    if (at_ == lines_.size()) return;
    if (line().indent > indent) return keep_deeper(indent);
    const char sign = line().text[0];
    if (line().indent < indent || is_alphanumeric(sign) || static_cast<unsigned char>(sign) >= 0x80) return;
    while (at_ < lines_.size() && line().text.starts_with(sign)) keep_line();
  }

  std::vector<RstLine> lines_;
  RstTitles titles_;
  size_t at_ = 0;
  bool no_more_borders_ = false;  // of tables, before an empty line
  SegmentBuilder builder_{{.escape = escape_rst}};
};

}  // namespace

Document read_rst(std::string_view bytes, const DocumentSettings& settings) {
  check_utf8(bytes, settings);
  return read_after_mark(bytes, [](std::string_view text) { return RstReader(text).document(); });
}

}  // namespace dragoman::internal
