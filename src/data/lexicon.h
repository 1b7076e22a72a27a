// Lexicon: the most probable translations of each source piece, learned from a prepared corpus.
//
// IBM model 1 (Brown et al., 1993): each target piece is aligned to one source piece or to none, represented here by
// the end token; expectation maximisation estimates the probability of a target piece given its source piece. To bound
// memory and time, each source piece keeps only the target pieces that it co-occurs with most, and a large corpus is
// sampled evenly down to a million pairs. The result does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "data/prepare_corpus.h"

namespace dragoman::internal {

struct Lexicon {
  std::vector<int32_t> frequent;                   // target pieces, the most frequent first
  std::vector<std::vector<int32_t>> translations;  // target pieces by source piece, the most probable first
};

struct LexiconSize {
  int64_t per_source = 50;  // target pieces of a source piece
  int64_t frequent = 100;
  double min_probability = 0.001;  // of a listed piece
};

// A target piece spelled like the source piece is always listed.
Lexicon learn_lexicon(const PreparedCorpus& corpus, const LexiconSize& size, int threads);

}  // namespace dragoman::internal
