// A batch in parts: some of its sentences at a time, so that fewer tokens take memory at once.
//
// A part is whole sentences, one after the other, with their pairs. Gradients are sums over tokens and dropout depends
// on a token's pair, so that what the parts give together is what the batch gives, but for rounding. How a batch is cut
// is a function of its lengths and of part_tokens alone.
#pragma once

#include <cstdint>
#include <span>

#include "data/batch.h"

namespace dragoman {

struct PackedView {
  std::span<const int32_t> ids, lengths;
};

// Sentences of a batch, which must outlive it: nothing is copied.
struct BatchSlice {
  std::span<const uint64_t> pairs;
  PackedView source, target_input;
  std::span<const int32_t> targets;
};

BatchSlice whole(const Batch& batch);

// The fewest parts of no more than `part_tokens` on the batch's larger side, could it be cut anywhere; 0: one part.
int64_t slice_count(const Batch& batch, int64_t part_tokens);

// Takes off the sentences of `rest` the first of so many parts of about the same size. None is empty.
BatchSlice take_slice(BatchSlice& rest, int64_t parts);

}  // namespace dragoman
