// Lexicon: which target pieces each source piece is likely to become, learnt from a prepared corpus.
//
// IBM model 1 (Brown et al., 1993): each piece of a target comes from one piece of its source, or from none, for which
// the end mark stands here; expectation maximisation finds the probabilities of a piece given the one that it comes
// from. Of each source piece only those pieces are followed that stand opposite it most often, and of a large corpus
// about a million pairs, evenly: memory and time are bounded. The number of threads changes nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "data/prepare_corpus.h"

namespace dragoman {

struct Lexicon {
  std::vector<int32_t> frequent;  // target pieces, the most frequent first
  std::vector<std::vector<int32_t>>
      likeliest;  // of each source piece (and of none: eos_id); the likeliest first
};

struct LexiconSize {
  int64_t likeliest = 50;
  int64_t frequent = 100;
  double min_probability = 0.001;  // of a piece that is listed
};

// A source piece that is spelt like a target piece may always become that.
Lexicon learn_lexicon(const PreparedCorpus& corpus, const LexiconSize& size, int threads);

}  // namespace dragoman
