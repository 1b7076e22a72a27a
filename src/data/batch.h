// A packed batch in host memory: the sentences of each side end to end, without padding.
#pragma once

#include <cstdint>
#include <span>
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

// What a word aligner links each predicted token to, for guided alignment: places in the source's sentence.
struct PackedLinks {
  std::vector<int32_t> counts;  // one per target; empty where links are not wanted
  std::vector<int32_t> sources;

  bool empty() const { return counts.empty(); }
};

struct Batch {
  std::vector<uint64_t> pairs;  // each pair's index in its corpus, which keys its dropout
  PackedSide source;
  PackedSide target_input;       // what the decoder reads: the target, shifted right by its start token
  std::vector<int32_t> targets;  // the token to predict at each of these positions
  PackedLinks links = {};

  int64_t source_tokens() const { return static_cast<int64_t>(source.ids.size()); }
  int64_t target_tokens() const { return static_cast<int64_t>(targets.size()); }
};

// --- Slices of a batch, so that fewer tokens take memory at once.
//
// A slice is consecutive whole sentences with their pairs. Gradients are sums over tokens and dropout depends on a
// token's pair, so the slices together give the batch's gradients, up to rounding. The cuts depend only on the
// batch's lengths and on part_tokens.

struct PackedView {
  std::span<const int32_t> ids, lengths;
};

// Views into a batch, which must outlive it.
struct BatchSlice {
  std::span<const uint64_t> pairs;
  PackedView source, target_input;
  std::span<const int32_t> targets;
  std::span<const int32_t> link_counts = {}, linked_sources = {};
};

BatchSlice whole(const Batch& batch);

// Tokens of the larger side divided by `part_tokens`, rounded up, but at most one slice a sentence. 0: one slice.
int64_t slice_count(const Batch& batch, int64_t part_tokens);

// Removes from `rest` the first of `slices` slices of about equal size. None is empty.
BatchSlice take_slice(BatchSlice& rest, int64_t slices);

}  // namespace dragoman::internal
