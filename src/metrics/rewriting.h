// The steps of which the metrics' tokenizers consist, each equal to one regular expression of sacreBLEU's.
#pragma once

#include <string>
#include <string_view>

namespace dragoman::internal {

using CharacterClass = bool (*)(char32_t c);

void replace_all(std::u32string& text, std::u32string_view what, std::u32string_view with);

// Puts a space on both sides of each such character.
std::u32string set_apart(const std::u32string& text, CharacterClass mark);

// Finds pairs of matching neighbours, left to right without overlap like a regular expression, and puts a space on both
// sides of the one that is the mark.
enum class PairMark { first, second };
std::u32string set_pairs_apart(const std::u32string& text, CharacterClass first, CharacterClass second,
                               PairMark mark);

// The entities of XML that mteval decodes: quot, amp, lt, gt, in this order.
void decode_entities(std::u32string& text);

// The two steps that 13a, zh and TER's normalization share: spaces around the punctuation and symbols of ASCII except
// ' , - and . ; then around periods and commas beside what is not a digit, and around a dash after a digit.
std::u32string separate_marks(const std::u32string& text);
std::u32string separate_points(std::u32string text);

}  // namespace dragoman::internal
