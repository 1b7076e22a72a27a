// What a character is in its script: how its words are told apart.
#pragma once

namespace dragoman::internal {

bool is_letter(char32_t c);     // Unicode's categories L*
bool is_combining(char32_t c);  // M*: belongs to the character before it
bool is_upper(char32_t c);
bool is_lower(char32_t c);
char32_t to_upper(char32_t c);  // one character for one: ß stays
char32_t to_lower(char32_t c);

bool is_hangul(char32_t c);
// A letter of a script that puts no spaces between words: Chinese characters, kana, Thai, Khmer, ...
bool is_of_unspaced_script(char32_t c);

// A letter, digit, combining mark or underscore: what words consist of in a script with spaces between them.
bool is_of_spaced_word(char32_t c);

}  // namespace dragoman::internal
