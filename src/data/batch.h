// A packed batch in host memory: the sentences of each side end to end, without padding.
#pragma once

#include <cstdint>
#include <vector>

namespace dragoman::internal {

struct PackedSide {
  std::vector<int32_t> ids;
  std::vector<int32_t> lengths;  // one per sentence

  int64_t sentences() const { return static_cast<int64_t>(lengths.size()); }
  void add(const int32_t* begin, const int32_t* end) {
    ids.insert(ids.end(), begin, end);
    lengths.push_back(static_cast<int32_t>(end - begin));
  }
};

struct Batch {
  std::vector<uint64_t> pairs;  // each pair's index in its corpus, which keys its dropout
  PackedSide source;
  PackedSide target_input;       // what the decoder reads: the target, shifted right by its start token
  std::vector<int32_t> targets;  // the token to predict at each of these positions

  int64_t source_tokens() const { return static_cast<int64_t>(source.ids.size()); }
  int64_t target_tokens() const { return static_cast<int64_t>(targets.size()); }
};

}  // namespace dragoman::internal
