// A word aligner: which source words each target word translates, learned from pairs of sentences alone.
//
// Two hidden Markov models (Vogel et al., 1996), one for each direction, are learned together: each starts as IBM
// model 1, and in every round a link counts as much as both models expect it, relative to the others (Liang et al.,
// "Alignment by Agreement", 2006). Words are ids, of whole words or of subword pieces, without start and end tokens.
//
// Learning takes an even sample of at most `max_pairs` pairs, leaves out pairs with an empty side or one of more than
// max_learned_length words, and follows at most `max_entries` pairs of words (24 bytes each while learning, 16 after).
// The result depends neither on the number of threads nor on the order in which they run. Learning throws Stopped if a
// signal asked to stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/align/hidden_markov.h"
#include "data/align/symmetrize.h"
#include "data/align/translation_table.h"

namespace dragoman::internal {

constexpr size_t max_aligned_length = 1000;

struct AlignmentOptions {
  int model1_rounds = 5;
  int markov_rounds = 5;
  size_t max_pairs = 1'000'000;
  size_t max_entries = size_t{1} << 26;
  int threads = 1;
};

// What was learned. Its methods are const and may be called from several threads at a time.
class AlignmentModel {
 public:
  // The links of one pair, by target and then by source; none if a side is empty or has more than max_aligned_length
  // words. Ids beyond those that the model has learned from count as words never seen. A function of the pair alone.
  std::vector<Link> links(std::span<const int32_t> source, std::span<const int32_t> target,
                          Symmetrization symmetrization = Symmetrization::grow_diag_final_and) const;

  // p(target word | source word) for the target words that were followed, and the inverse.
  const TranslationTable& forward() const { return forward_.table; }
  const TranslationTable& backward() const { return backward_.table; }

  size_t sampled_pairs() const { return sampled_pairs_; }  // that it was learned from

 private:
  friend AlignmentModel learn_alignment(const PairsToAlign&, const AlignmentOptions&);

  HiddenMarkovModel forward_;   // of the target, given the source
  HiddenMarkovModel backward_;  // of the source, given the target
  size_t sampled_pairs_ = 0;
};

AlignmentModel learn_alignment(const PairsToAlign& pairs, const AlignmentOptions& options = {});

}  // namespace dragoman::internal
