// Characters as \u00e9, two of them for those beyond U+FFFF, as in JSON, Java and others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dragoman::internal {

// The code unit of \uXXXX at the beginning of a text; −1 if there is none.
int32_t code_unit_at(std::string_view bytes, char letter = 'u');

// Appends the character at the beginning of a text that is written so, and returns how many bytes it takes; 0: none is.
size_t decode_unicode_escape(std::string_view bytes, std::string& text, char letter = 'u');

// With all characters beyond ASCII as escapes.
std::string with_unicode_escapes(std::string_view text);

// Whether a file writes all characters beyond ASCII as escapes, as its translation then does.
bool escapes_all(std::string_view file);

}  // namespace dragoman::internal
