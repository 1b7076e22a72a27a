// Which pairs of a parallel text are worth training on: the rules of data/cleaning.h, and their options.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/options.h"

namespace dragoman::internal {

// Why a pair is left out. A pair to which several apply counts for the first.
enum class Fault {
  none,
  invalid,    // not UTF-8, a NUL byte, or a TSV line without the column
  empty,      // a side of white space
  encoding,   // U+FFFD, control characters, or UTF-8 that was read as another encoding: "Ã©"
  no_words,   // a side with no letter outside of addresses and markup
  symbols,    // too few letters among the characters of a side
  script,     // too many letters of other scripts
  too_long,   // words or characters of a side
  ratio,      // one side far longer than the other
  copy,       // both sides have the same words
  numbers,    // the sides have different numbers
  language,   // a side is in another language
  duplicate,  // seen before
  score,      // unlikely by a model
  count
};
inline constexpr size_t fault_count = static_cast<size_t>(Fault::count);

// As reports have it, "too_long"; and as people read it: "longer than --max-words or --max-length".
const char* name_of(Fault fault);
const char* description_of(Fault fault);

using FaultCounts = std::array<int64_t, fault_count>;  // by Fault; none: the pairs that are kept

// Of which pairs only the first is kept: those with both sides equal, with the same source, the same target, or either.
enum class Duplicates { none, pair, source, target, either };

// A number that is 0 and a rule that is false are off.
struct CleaningRules {
  bool encoding = true;
  bool no_words = true;
  double min_letters = 0.5;
  double max_foreign = 0.3;
  int64_t max_words = 150;
  int64_t max_length = 1000;
  double max_ratio = 2;
  int64_t copy_words = 3;
  bool numbers = true;
  double min_language = 0.05;
  Duplicates duplicates = Duplicates::pair;
  double min_score = 0;  // below 0; in nats a token
};

// How their names are written: --max-words of a command, max_words of a recipe.
enum class OptionSpelling { flags, keys };
void declare(Section& section, CleaningRules& rules, OptionSpelling spelling);

}  // namespace dragoman::internal
