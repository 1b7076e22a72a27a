#include "document/messages/po_strings.h"

#include <iterator>
#include <vector>

#include "text/breaks.h"
#include "text/columns.h"

namespace dragoman::internal {
namespace {

constexpr int64_t max_columns = 79;
constexpr StringEscapes po_escapes = {"abfnrtv\"\\", "\a\b\f\n\r\t\v\"\\"};

size_t decode_po(std::string_view bytes, std::string& text) {
  return decode_character(bytes, po_escapes, text);
}

std::string escape_po(std::string_view text) { return escape_characters(text, po_escapes); }

// Behind each \n.
std::vector<std::string_view> lines_of(std::string_view escaped) {
  std::vector<std::string_view> lines;
  size_t begin = 0;
  for (size_t i = 0; i + 1 < escaped.size(); ++i) {
    if (escaped[i] != '\\') continue;
    if (escaped[++i] != 'n') continue;
    lines.push_back(escaped.substr(begin, i + 1 - begin));
    begin = i + 1;
  }
  if (begin < escaped.size() || lines.empty()) lines.push_back(escaped.substr(begin));
  return lines;
}

bool is_in_escape(std::string_view before) {
  const size_t end = before.find_last_not_of('\\') + 1;
  return (before.size() - end) % 2 == 1;
}

// The parts between which Unicode's rules allow a line break.
std::vector<std::string_view> unbreakable_parts(std::string_view line) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (const size_t end : breaks_in(line, BreakKind::line)) {
    if (end < line.size() && (is_in_escape(line.substr(begin, end - begin)) || line.substr(end) == "\\n"))
      continue;
    parts.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return parts;
}

}  // namespace

const StringSyntax& po_syntax() {
  static const StringSyntax syntax = string_syntax<decode_po, escape_po>();
  return syntax;
}

std::string po_field(std::string_view keyword, std::string_view escaped, std::string_view line_break) {
  const std::vector<std::string_view> lines = lines_of(escaped);
  std::string field(keyword);
  if (lines.size() == 1 && std::ssize(keyword) + columns_of(escaped) + 3 <= max_columns)
    return field.append(" \"").append(escaped).append("\"");
  field += " \"\"";
  for (const std::string_view line : lines) {
    int64_t width = max_columns;  // so that the first part begins a line
    for (const std::string_view part : unbreakable_parts(line)) {
      const int64_t added = columns_of(part);
      if (width + added > max_columns - 2 || part.data() == line.data()) {
        field.append(part.data() == line.data() ? "" : "\"").append(line_break).append("\"");
        width = 0;
      }
      field += part;
      width += added;
    }
    field += '"';
  }
  return field;
}

}  // namespace dragoman::internal
