// Reranking: the choice by a weighted sum, and weights that no other choice of theirs beats.
#include "metrics/reranking.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "base/random.h"

namespace dragoman::internal {
namespace {

using Sentences = std::vector<std::vector<ListedCandidate>>;

// Sentences of a few words, of which each candidate gets some wrong. The second feature knows how many, but for noise;
// the first one does not.
Sentences random_candidates(uint64_t seed, size_t features, double noise) {
  Random random(seed);
  Sentences sentences;
  for (int s = 0; s < 40; ++s) {
    std::string reference;
    for (int w = 0; w < 8; ++w) reference += "w" + std::to_string(random.below(50)) + " ";
    std::vector<ListedCandidate> candidates;
    for (int c = 0; c < 5; ++c) {
      const int wrong = static_cast<int>(random.below(6));
      std::string hypothesis = reference;
      for (int i = 0; i < wrong; ++i) hypothesis.replace(hypothesis.find('w'), 1, "x");
      ListedCandidate candidate = {.statistics = bleu_statistics(hypothesis, reference)};
      candidate.features.push_back(random.uniform(-3, 0));
      candidate.features.push_back(-wrong + random.uniform(-noise, noise));
      while (candidate.features.size() < features) candidate.features.push_back(random.uniform(-1, 1));
      candidates.push_back(candidate);
    }
    sentences.push_back(candidates);
  }
  return sentences;
}

TEST(Reranking, TakesTheLargestSumAndTheFirstOfEqualOnes) {
  const std::vector<ListedCandidate> candidates = {{{-1, 2}}, {{-2, 4}}, {{-1, 2}}};
  EXPECT_EQ(best_candidate(candidates, std::vector{1.0, 0.0}), 0U);
  EXPECT_EQ(best_candidate(candidates, std::vector{1.0, 1.0}), 1U);
  EXPECT_EQ(best_candidate(candidates, std::vector{1.0, -1.0}), 0U);
}

TEST(Reranking, AFeatureThatKnowsFindsTheBestOfAll) {
  const Sentences sentences = random_candidates(1, 2, 0);
  const std::vector<double> tuned = tuned_weights(sentences);
  EXPECT_EQ(tuned[0], 1);
  EXPECT_EQ(bleu_of_best(sentences, tuned), bleu_of_best(sentences, std::vector{0.0, 1.0}));
  EXPECT_GT(bleu_of_best(sentences, tuned), bleu_of_best(sentences, std::vector{1.0, 0.0}) + 5);
}

// With one weight to choose, the line search must find what a fine grid finds, or better.
TEST(Reranking, NoGridIsBetterThanTheExactSearch) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Sentences sentences = random_candidates(seed, 2, 4);
    const double found = bleu_of_best(sentences, tuned_weights(sentences));
    for (double weight = -5; weight <= 5; weight += 0.01)
      ASSERT_GE(found, bleu_of_best(sentences, std::vector{1.0, weight}) - 1e-9) << seed << ", " << weight;
  }
}

TEST(Reranking, IsNeverWorseThanWhatTheSearchGave) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Sentences sentences = random_candidates(seed, 4, 8);
    EXPECT_GE(bleu_of_best(sentences, tuned_weights(sentences)),
              bleu_of_best(sentences, std::vector{1.0, 0.0, 0.0, 0.0}));
  }
}

}  // namespace
}  // namespace dragoman::internal
