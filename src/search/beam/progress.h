// How much of a request's output is final during the search: the common prefix of all hypotheses that can still win.
#pragma once

#include "search/beam/beam.h"

namespace dragoman::internal {

// The best hypothesis so far, finished or open; null where there is none.
const Hypothesis* leading(const Beam& beam, const SearchOptions& options);

// The number of first tokens that are the same in every hypothesis that can still become the best.
size_t common_tokens(const Beam& beam, const SearchOptions& options);

// Keeps count of them step by step.
class FinalPrefix {
 public:
  // After each step. `retry_ngram`: see SearchRequest. A second search goes the same way until the ban of repeated
  // n-grams would have changed something: from there on nothing more is final.
  void update(const Beam& beam, const SearchOptions& options, int64_t retry_ngram);
  size_t tokens() const { return tokens_; }

 private:
  size_t tokens_ = 0;
  bool uncertain_ = false;
};

}  // namespace dragoman::internal
