// Reranking: of each sentence's hypotheses the one with the largest weighted sum of features, and the weights by which
// these have the best BLEU.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "metrics/bleu.h"

namespace dragoman::internal {

// A hypothesis: its features, and how it compares with the sentence's reference where weights are tuned.
struct ListedCandidate {
  std::vector<double> features;
  BleuStatistics statistics = {};
};

// The first of those with the largest sum.
size_t best_candidate(std::span<const ListedCandidate> candidates, std::span<const double> weights);

// Of the best candidates of all sentences.
double bleu_of_best(std::span<const std::vector<ListedCandidate>> sentences, std::span<const double> weights);

// Line searches along one weight after the other, each exact: between the points where some sentence's best candidate
// changes, BLEU does not (minimum error rate training: Och, 2003). From several beginnings, of which the best result is
// taken. The first weight, of the scores that the search gave, is 1.
std::vector<double> tuned_weights(std::span<const std::vector<ListedCandidate>> sentences);

}  // namespace dragoman::internal
