// Slices of a batch, so that fewer tokens take memory at once.
//
// A slice is consecutive whole sentences with their pairs. Gradients are sums over tokens and dropout depends on a
// token's pair, so the slices together give the batch's gradients, up to rounding. The cuts depend only on the
// batch's lengths and on part_tokens.
#pragma once

#include <cstdint>
#include <span>

#include "data/batch.h"

namespace dragoman::internal {

struct PackedView {
  std::span<const int32_t> ids, lengths;
};

// Views into a batch, which must outlive it.
struct BatchSlice {
  std::span<const uint64_t> pairs;
  PackedView source, target_input;
  std::span<const int32_t> targets;
};

BatchSlice whole(const Batch& batch);

// Tokens of the larger side divided by `part_tokens`, rounded up, but at most one slice a sentence. 0: one slice.
int64_t slice_count(const Batch& batch, int64_t part_tokens);

// Removes from `rest` the first of `parts` slices of about equal size. None is empty.
BatchSlice take_slice(BatchSlice& rest, int64_t parts);

}  // namespace dragoman::internal
