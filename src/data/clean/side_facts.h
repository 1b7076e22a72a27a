// What the rules of cleaning look at in one side of a pair, from one pass over its characters.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace dragoman::internal {

inline constexpr size_t script_numbers = 256;  // ICU's UScriptCode; those beyond count as the last

// Letters by script, without those that several share.
using ScriptCounts = std::array<int64_t, script_numbers>;
using Scripts = std::array<bool, script_numbers>;

struct SideFacts {
  int64_t characters = 0, visible = 0;  // all, and those that are no white space
  int64_t letters = 0;                  // and combining marks
  int64_t words = 0;                    // between white space; of a script without spaces every letter is one
  bool damaged = false;                 // U+FFFD, control characters, or UTF-8 in another encoding
};

// Adds letters to `scripts`.
SideFacts facts_of(std::string_view text, ScriptCounts& scripts);

// Whether it has the marks of UTF-8 that was read as Latin-1 or Windows-1252: "Ã©" for "é", "â€™" for "’".
bool is_misread_utf8(std::u32string_view text);

// Whether it has letters outside of addresses, tags and entities.
bool has_words(std::string_view text);

// Its letters and digits in lower case, a space between words: for comparing both sides.
std::string bare_words(std::string_view text);

// The scripts that a language is written in; none where ICU does not know it.
Scripts scripts_of_language(const std::string& language);

}  // namespace dragoman::internal
