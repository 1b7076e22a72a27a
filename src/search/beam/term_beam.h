// The terms of a request in its beam: which tokens may follow a hypothesis, and which hypotheses a beam keeps.
//
// A hypothesis may begin a term, after a whole word, while the model attends to the term's source; from then on
// it has the term's tokens, one after the other. Hypotheses with more terms contain more unlikely tokens. So the
// beam's places are shared out among those that have begun no term, one, two, ..., as in Post and Vilar ("Fast
// Lexically Constrained Decoding with Dynamic Beam Allocation", 2018), and a beam stays as wide as it is. An output
// does not end before all of its terms are in it, where its greatest length allows that: where the model would end
// it, a missing term begins. A term that the model writes by itself counts, too; none comes out twice.
//
// A single hypothesis, of a greedy search or a sample, begins a term as soon as enough attention is on its source.
#pragma once

#include <span>
#include <vector>

#include "search/beam/beam.h"
#include "search/beam/term_choices.h"

namespace dragoman::internal {

// As expand(), with what each open hypothesis may do about its terms. `single`: none competes with another.
std::vector<Candidate> expand_with_terms(const Beam& beam, std::span<const Element> next,
                                         std::span<const TermChoices> choices, std::span<const int32_t> words,
                                         bool single);

// As prune(), for candidates that have begun different terms. Keeps count of what terms cost. Of candidates for a beam
// that ends separately, each half has its share of those.
void prune_with_terms(Beam& beam, std::vector<Candidate>& candidates, const SearchOptions& options);

}  // namespace dragoman::internal
