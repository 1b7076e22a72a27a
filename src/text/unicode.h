// Text as code points, and the character properties that the metrics need. White space and lower case are Python's, so
// that scores equal sacreBLEU's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

// Arbitrary bytes as valid text: replaces invalid UTF-8 and NUL with U+FFFD.
std::string repaired(std::string_view bytes);

// Replaces invalid UTF-8 with U+FFFD.
std::u32string code_points(std::string_view utf8);

// One character; empty if there is none of this number.
std::string to_utf8(char32_t c);

// Python's str.isspace for one character, which split() and rstrip() use.
bool is_space(char32_t c);

// Python's str.lower: "ΟΔΟΣ" becomes "οδος", with a final sigma.
std::u32string lower_case(const std::u32string& text);

bool is_punctuation(char32_t c);  // Unicode's categories P*
bool is_symbol(char32_t c);       // S*
bool is_number(char32_t c);       // N*

// The words separated by white space, as views into the text.
std::vector<std::u32string_view> split_words(std::u32string_view text);

}  // namespace dragoman::internal
