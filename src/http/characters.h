// Characters as HTTP sees them: bytes, in ASCII.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace dragoman::internal {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline bool is_alphanumeric(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

inline bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

inline char ascii_lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

inline int hex_digit(char c) {  // -1: not a hexadecimal digit
  if (is_digit(c)) return c - '0';
  const char small = ascii_lower_case(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

inline bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, ascii_lower_case, ascii_lower_case);
}

inline std::string in_lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), ascii_lower_case);
  return result;
}

inline std::string_view stripped(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

}  // namespace dragoman::internal
