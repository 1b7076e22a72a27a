// Text as bytes of ASCII, whatever the locale: those of other characters belong to none of these classes.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace dragoman::internal {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

inline bool is_alphanumeric(char c) { return is_digit(c) || is_letter(c); }

inline bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

inline char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

inline int hex_digit(char c) {  // -1: not a hexadecimal digit
  if (is_digit(c)) return c - '0';
  const char small = lower_letter(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

inline bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower_letter, lower_letter);
}

inline std::string in_lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower_letter);
  return result;
}

// Without blanks around it.
inline std::string_view stripped(std::string_view text, std::string_view blanks = " \t") {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

struct Escape {
  char character;
  std::string_view written;
};

// With what is written instead of these characters: escaped("a < b", {{'<', "&lt;"}}) is "a &lt; b".
inline std::string escaped(std::string_view text, std::initializer_list<Escape> escapes) {
  std::string result;
  for (const char c : text) {
    const auto* escape = std::ranges::find(escapes, c, &Escape::character);
    result += escape == escapes.end() ? std::string_view(&c, 1) : escape->written;
  }
  return result;
}

}  // namespace dragoman::internal
