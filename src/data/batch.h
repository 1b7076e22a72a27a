// A packed batch on the host: the sentences of both sides end to end, nothing padded.
#pragma once

#include <cstdint>
#include <vector>

namespace dragoman {

struct PackedSide {
  std::vector<int32_t> ids;
  std::vector<int32_t> lengths;  // a sentence each

  int64_t sentences() const { return static_cast<int64_t>(lengths.size()); }
  void add(const int32_t* begin, const int32_t* end) {
    ids.insert(ids.end(), begin, end);
    lengths.push_back(static_cast<int32_t>(end - begin));
  }
};

struct Batch {
  std::vector<uint64_t> pairs;  // each pair's index in its corpus: what its dropout depends on
  PackedSide source;
  PackedSide target_input;       // what the decoder reads: the target, shifted by its start
  std::vector<int32_t> targets;  // what it is to say after each of them

  int64_t source_tokens() const { return static_cast<int64_t>(source.ids.size()); }
  int64_t target_tokens() const { return static_cast<int64_t>(targets.size()); }
};

}  // namespace dragoman
