// What a memory compares segments by: their words, and keys under which equal ones are found.
//
// Words are folded to one case, and each punctuation mark is a word of its own; so is each character of a script
// without spaces. Composed and decomposed characters are the same, and so is all white space.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

// A number for each word. Different words have different numbers, but for one chance in 10^19.
std::vector<uint64_t> memory_words(std::string_view utf8);

// Two segments whose keys are equal differ in nothing but white space; those whose `loose` halves are equal, in case
// and numbers as well. (But for chance, which whoever looks up excludes by comparing the texts themselves.)
struct SegmentKey {
  uint32_t loose = 0, strict = 0;

  uint64_t number() const { return uint64_t{loose} << 32 | strict; }
};
SegmentKey memory_key(std::string_view utf8);

// What keys are made of.
std::string strict_form(std::string_view utf8);  // single spaces, composed characters
std::string loose_form(std::string_view utf8, bool case_, bool numbers);  // and that apart which is false

}  // namespace dragoman::internal
