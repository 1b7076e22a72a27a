// Escapes of a backslash and one character, such as \n, in string tables and message catalogues.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dragoman::internal {

struct StringEscapes {
  std::string_view codes, characters;  // "nt", "\n\t": each code stands for the character at its place
};

// Appends the first character of the bytes, escaped or not, to the text, and returns how many bytes it takes. A
// backslash before any other character stands for itself.
size_t decode_character(std::string_view bytes, const StringEscapes& escapes, std::string& text);

std::string escape_characters(std::string_view text, const StringEscapes& escapes);

}  // namespace dragoman::internal
