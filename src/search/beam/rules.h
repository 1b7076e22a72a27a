// Constraints on what may follow a hypothesis: the prefix, the limits of length, repetitions.
#pragma once

#include <cstdint>
#include <span>

#include "search/beam/beam.h"

namespace dragoman::internal {

// The log-probabilities of the words that may follow a hypothesis.
struct NextWords {
  std::span<float> log_probabilities;
  std::span<const int32_t> words = {};  // the columns', ascending; none: column i is word i

  // Null where the word is not among them.
  float* find(int32_t word) const;
};

void forbid(int32_t token, const NextWords& row);

// How many suppressed tokens are left out when the best ones are chosen; where there are many, rules forbid them.
size_t left_out(const Beam& beam);

// Whether a rule is in force after this hypothesis, so that apply_rules may change the row.
bool has_rules(const Beam& beam, const Hypothesis& hypothesis, const SearchOptions& options);

// Changes the row of an open hypothesis: words that may not follow get −∞.
void apply_rules(const Beam& beam, const Hypothesis& hypothesis, const SearchOptions& options,
                 const NextWords& row);

}  // namespace dragoman::internal
