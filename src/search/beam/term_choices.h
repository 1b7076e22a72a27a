// How a request's terms restrict and extend the possible next words of a hypothesis.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/beam/beam.h"
#include "search/beam/rules.h"

namespace dragoman::internal {

inline int32_t last_of(std::span<const int32_t> tokens) { return tokens.empty() ? -1 : tokens.back(); }

// Whether the hypothesis still needs this term: it has neither begun it nor written it by itself.
bool is_to_come(const Hypothesis& hypothesis, const TermChoices& choices, size_t term);

// Whether term_choices needs the hypothesis's attention.
bool wants_attention(const Beam& beam, const Hypothesis& hypothesis);

// Reads the row of an open hypothesis, and forbids tokens that would join a term, or write one a second time.
// `attention`: to each token of the source, where it is wanted.
TermChoices term_choices(const Beam& beam, const Hypothesis& hypothesis, std::span<const int32_t> source,
                         std::span<const float> attention, const NextWords& row);

}  // namespace dragoman::internal
