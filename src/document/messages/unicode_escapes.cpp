#include "document/messages/unicode_escapes.h"

#include <algorithm>

#include <fmt/format.h>
#include <unicode/utf16.h>

#include "base/parse_number.h"
#include "text/unicode.h"

namespace dragoman::internal {

int32_t code_unit_at(std::string_view bytes, char letter) {
  if (bytes.size() < 6 || bytes[0] != '\\' || bytes[1] != letter) return -1;
  const auto unit = parse_number<uint32_t>(bytes.substr(2, 4), 16);
  return unit ? static_cast<int32_t>(*unit) : -1;
}

size_t decode_unicode_escape(std::string_view bytes, std::string& text, char letter) {
  const int32_t unit = code_unit_at(bytes, letter);
  if (unit < 0) return 0;
  const int32_t next = U16_IS_LEAD(unit) ? code_unit_at(bytes.substr(6), letter) : -1;
  const bool is_pair = next >= 0 && U16_IS_TRAIL(next);
  text += to_utf8(static_cast<char32_t>(is_pair ? U16_GET_SUPPLEMENTARY(unit, next) : unit));
  return is_pair ? 12 : 6;
}

std::string with_unicode_escapes(std::string_view text) {
  std::string ascii;
  for (const char32_t c : code_points(text)) {
    const auto character = static_cast<UChar32>(c);
    if (c < 0x80) {
      ascii += static_cast<char>(c);
    } else if (U_IS_BMP(character)) {
      ascii += fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
    } else {
      ascii += fmt::format("\\u{:04x}\\u{:04x}", static_cast<uint32_t>(U16_LEAD(character)),
                           static_cast<uint32_t>(U16_TRAIL(character)));
    }
  }
  return ascii;
}

bool escapes_all(std::string_view file) {
  if (std::ranges::any_of(file, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) return false;
  for (size_t at = file.find("\\u"); at != file.npos; at = file.find("\\u", at + 1))
    if (code_unit_at(file.substr(at)) >= 0x80) return true;
  return false;
}

}  // namespace dragoman::internal
