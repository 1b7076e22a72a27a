// Text as code points, and the character properties that the metrics need. White space and lower case are Python's, so
// that scores equal sacreBLEU's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

// Arbitrary bytes as valid text: replaces invalid UTF-8 and NUL with U+FFFD.
std::string repaired(std::string_view bytes);

// Replaces invalid UTF-8 with U+FFFD.
std::u32string code_points(std::string_view utf8);

size_t code_point_count(std::string_view utf8);

// The byte at which each code point begins, then the size of the text.
std::vector<size_t> code_point_offsets(std::string_view utf8);

// One character; empty if no character has this number.
std::string to_utf8(char32_t c);
std::string to_utf8(std::u32string_view text);

// Python's str.isspace for one character, which split() and rstrip() use.
bool is_space(char32_t c);

// Python's str.lower: "ΟΔΟΣ" becomes "οδος", with a final sigma.
std::u32string lower_case(const std::u32string& text);

bool is_punctuation(char32_t c);  // Unicode's categories P*
bool is_symbol(char32_t c);       // S*
bool is_number(char32_t c);       // N*

// Characters of a kind: whether a text has one, and how many bytes of them it begins and ends with.
using IsOfKind = bool (*)(char32_t c);
bool has_character(std::string_view utf8, IsOfKind is);
size_t leading_bytes(std::string_view utf8, IsOfKind is);
size_t trailing_bytes(std::string_view utf8, IsOfKind is);

inline size_t leading_space(std::string_view utf8) { return leading_bytes(utf8, is_space); }
inline size_t trailing_space(std::string_view utf8) { return trailing_bytes(utf8, is_space); }
inline bool is_white_space(std::string_view utf8) { return leading_space(utf8) == utf8.size(); }

// The words separated by white space, as views into the text.
std::vector<std::u32string_view> split_words(std::u32string_view text);
// The same words with single spaces between them.
std::u32string single_spaced(std::u32string_view text);
std::string single_spaced(std::string_view utf8);
// How many there are.
size_t word_count(std::string_view utf8);

}  // namespace dragoman::internal
