// What may follow a hypothesis: the forced prefix, the limits of length, repetitions.
#pragma once

#include <span>

#include "search/beam.h"

namespace dragoman {

// Changes the row of log-probabilities after an open hypothesis: what may not follow gets −∞.
void apply_rules(const Beam& beam, const Hypothesis& hypothesis, const SearchOptions& options,
                 std::span<float> log_probabilities);

}  // namespace dragoman
