#include "document/messages/po_strings.h"

#include <vector>

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "text/breaks.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_columns = 79;
constexpr StringEscapes po_escapes = {"abfnrtv\"\\", "\a\b\f\n\r\t\v\"\\"};

size_t decode_po(std::string_view bytes, std::string& text) {
  return decode_character(bytes, po_escapes, text);
}

std::string escape_po(std::string_view text) { return escape_characters(text, po_escapes); }

size_t columns(std::string_view text) {
  size_t count = 0;
  for (size_t next = 0; next < text.size();) {
    UChar32 c;
    U8_NEXT(text.data(), next, text.size(), c);
    const int32_t width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
    const int8_t type = u_charType(c);
    if (type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK || type == U_FORMAT_CHAR) continue;
    count += width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
  }
  return count;
}

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
  if (lines.size() == 1 && keyword.size() + columns(escaped) + 3 <= max_columns)
    return field.append(" \"").append(escaped).append("\"");
  field += " \"\"";
  for (const std::string_view line : lines) {
    size_t width = max_columns;  // so that the first part begins a line
    for (const std::string_view part : unbreakable_parts(line)) {
      const size_t added = columns(part);
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
