// Subword sampling: segments the same sentence differently each time, as a regulariser (Kudo, 2018: "Subword
// Regularization"; Provilkov et al., 2020: "BPE-Dropout").
//
// It works on ids, so shards need no text: pieces are joined to the text that they spell, which is segmented again.
// Special tokens and bytes of byte fallback stay as they are.
//
// For BPE, alpha is the probability of skipping a merge (0: the usual segmentation, 1: characters); for a unigram model
// the exponent of a segmentation's probability (1: the model's distribution, towards 0: uniform). The kind of model is
// recognised by its scores. The result is a pure function of vocabulary, alpha, ids and random numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

class SubwordSampler {
 public:
  SubwordSampler(const Vocabulary& vocabulary, double alpha);  // the vocabulary must outlive it
  ~SubwordSampler();

  std::vector<int32_t> sample(std::span<const int32_t> ids, Random& random) const;

 private:
  struct Pieces;
  std::unique_ptr<Pieces> pieces_;
  double alpha_;
};

}  // namespace dragoman::internal
