// UTF-8, byte by byte. Characters and their properties are in text/unicode.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dragoman::internal {

// Whether a byte continues the character of the byte before it.
constexpr bool is_continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

// The bytes of a character beyond ASCII that begins with this one; 0 where none does.
constexpr size_t length_of_character(uint8_t first) {
  return first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
}

// How many bytes at the end belong to a character that does not end there.
constexpr size_t unfinished_bytes(std::string_view utf8) {
  for (size_t bytes = 1; bytes <= utf8.size() && bytes <= 3; ++bytes) {
    const char byte = utf8[utf8.size() - bytes];
    if (!is_continuation(byte)) return bytes < length_of_character(static_cast<uint8_t>(byte)) ? bytes : 0;
  }
  return 0;
}

}  // namespace dragoman::internal
