// Numbers in texts.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace dragoman::internal {

// The number that the whole text is; nothing where it is something else, or beyond what the type holds.
// `base`: 16 for hexadecimal digits.
template <class Number, class... Base>
std::optional<Number> parse_number(std::string_view text, Base... base) {
  Number number = {};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base...);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace dragoman::internal
