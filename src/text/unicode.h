// Text as code points, and the little that the metrics ask of Unicode. White space and small letters are Python's,
// so that scores are what sacreBLEU makes of the same text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

// Text of any bytes: what is no UTF-8, and NUL, becomes U+FFFD.
std::string repaired(std::string_view bytes);

// What is no UTF-8 becomes U+FFFD.
std::u32string code_points(std::string_view utf8);

// Python's str.isspace for one character: what split() and rstrip() go by.
bool is_space(char32_t c);

// Python's str.lower: "ΟΔΟΣ" becomes "οδος", with the sigma that ends a word.
std::u32string lower_case(const std::u32string& text);

bool is_punctuation(char32_t c);  // Unicode's categories P*
bool is_symbol(char32_t c);       // S*
bool is_number(char32_t c);       // N*

// The words between white space. They point into the text.
std::vector<std::u32string_view> split_words(std::u32string_view text);

}  // namespace dragoman
