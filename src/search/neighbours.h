// Neighbours: segments similar to a sentence that somebody has translated before. Their targets are run through the
// decoder at once, and its states, with the words that followed them, are what the sentence's hypotheses are compared
// with at each step: where a state is near to theirs, what followed is likely (Khandelwal et al., 2021; with a few
// similar segments alone, Dai et al., 2023).
//
// States are kept for other sentences with the same neighbours, those used last, up to a number of tokens. They have
// the same bits whether they were kept or not.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "search/ensemble.h"
#include "search/request.h"
#include "text/languages.h"

namespace dragoman::internal {

class NeighbourStates {
 public:
  // `end`: the end mark, which follows the last state. max_kept: floats of the states that are kept.
  NeighbourStates(Ensemble& ensemble, int32_t end, int64_t max_kept = int64_t{16} << 20);

  // A sentence's own: those that are not known yet are computed by compute(). `words`: the only ones, ascending; none:
  // all. To be released once.
  KnownStates open(std::span<const Neighbour> neighbours, const StartTokens& start,
                   std::span<const int32_t> words);
  void compute();
  void release(const KnownStates& states) { rows_.release(states.rows); }

  int64_t kept_tokens() const { return kept_rows_; }
  int64_t rows_in_use() const { return rows_.in_use(); }

 private:
  struct Kept {
    std::string key;
    std::vector<int32_t> rows;  // for each token of the target, and its end
  };
  struct Waiting {
    std::vector<int32_t> source, read, rows;
  };

  const Kept& find(const Neighbour& neighbour, const StartTokens& start);
  void drop_oldest();

  Ensemble& ensemble_;
  const int32_t end_;
  const int64_t max_rows_;
  int64_t kept_rows_ = 0;
  CacheRows rows_;
  std::list<Kept> kept_;  // the newest first
  std::unordered_map<std::string_view, std::list<Kept>::iterator> places_;
  std::vector<Waiting> waiting_;
};

}  // namespace dragoman::internal
