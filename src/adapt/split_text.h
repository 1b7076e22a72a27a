// Parallel text in two parts: what a model learns from, and what it is measured on.
//
// Which of them a pair belongs to follows from its source, so that no source stands in both.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus.h"

namespace dragoman::internal {

// Files, line by line.
struct SplitText {
  std::string source, target, held_out_source, held_out_target;
};
SplitText split_text_in(const std::string& folder);

// About `wanted` of all `pairs`, by a hash.
class HeldOut {
 public:
  HeldOut(int64_t pairs, int64_t wanted) : share_(static_cast<double>(wanted) / static_cast<double>(pairs)) {}

  bool operator()(std::string_view source) const;

 private:
  double share_;
};

struct SplitCounts {
  int64_t learnt = 0, held_out = 0;
};

// A target may be empty where it is still to be made.
SplitCounts write_split(const std::vector<TextPair>& pairs,
                        const std::function<bool(std::string_view source)>& is_held_out,
                        const SplitText& files);

std::vector<TextPair> read_held_out(const SplitText& files);

}  // namespace dragoman::internal
