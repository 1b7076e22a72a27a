// Subword sampling: another way to cut the same sentence into pieces, as a regulariser (Kudo, 2018: "Subword
// Regularization"; Provilkov et al., 2020: "BPE-Dropout").
//
// It works on ids, so that shards need no text: pieces are joined to the text that they spell, and that is cut anew.
// Unknown pieces, marks and bytes of byte fallback stay as they are and where they are.
//
// alpha is, for BPE, the probability that a merge is skipped (0: the usual pieces, 1: characters); for a unigram
// model the exponent of a cut's probability (1: the model's own distribution, towards 0: uniform). Which of the two
// a vocabulary is, is told from its scores. A cut is a pure function of vocabulary, alpha, ids and random numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "text/vocabulary.h"

namespace dragoman {

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

}  // namespace dragoman
