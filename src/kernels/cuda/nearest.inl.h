// The nearest of known states, and what followed them mixed into log-probabilities. A warp takes a row: together it
// measures one distance after the other, and each lane then has every 32nd of them.
#pragma once

#include "kernels/cuda/functions.inl.h"
#include "kernels/cuda/loss.inl.h"
#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

GPU_FUNCTION float relative_distance(const ConstMatrix& states, int64_t row, const ConstMatrix& known,
                                     int64_t known_row) {
  float squares = 0, lengths = 0;
  for (int64_t c = lane(); c < known.columns; c += warp_size) {
    const float a = element(states, row, c), b = element(known, known_row, c), difference = a - b;
    squares = fmaf(difference, difference, squares);
    lengths = fmaf(a, a, fmaf(b, b, lengths));
  }
  squares = warp_sum(squares);
  lengths = warp_sum(lengths);
  return lengths > 0 ? squares / lengths : 0;
}

// What this lane's known states weigh of all that follows the same words as one of them.
GPU_FUNCTION float weight_of_word(const int32_t* words, const float* weights, int first, int count) {
  float weight = 0;
  for (int i = first; i < count && words[i] == words[first]; ++i) weight += weights[i];
  return weight;
}

// How far the row heeds others: 1 unless it has a word of more than ½, 0 where it is certain.
GPU_FUNCTION float doubt_of_row(const float* x, int64_t columns) {
  float top = lowest_float;
  for_each_column(columns, [&](int64_t c) { top = fmaxf(top, x[c]); });
  return fminf(1.0f, 2 * (1 - expf(warp_max(top))));
}

GPU_KERNEL mix_nearest_kernel(NearestShape shape, ConstMatrix states, ConstMatrix known, Matrix weights,
                              Matrix mixed) {
  const int64_t r = row_of_warp();
  if (r >= mixed.rows) return;
  const Span span = shape.spans[r];
  if (span.length == 0) return;
  float* own = weights.data + r * weights.stride;
  float least = INFINITY;
  for (int i = 0; i < span.length; ++i) {
    const float distance = relative_distance(states, r, known, shape.rows[span.begin + i]);
    if (distance < least) least = distance;
    if (i % warp_size == lane()) own[i] = distance;
  }
  float* x = mixed.data + r * mixed.stride;
  const float share = shape.most * (1 - least / shape.reach) * doubt_of_row(x, mixed.columns);
  if (!(share > 0)) return;
  float total = 0;
  for (int i = lane(); i < span.length; i += warp_size) {
    own[i] = expf((least - own[i]) / shape.temperature);
    total += own[i];
  }
  total = warp_sum(total);
  const float rest = logf(1 - share);
  for_each_column(mixed.columns, [=](int64_t c) { x[c] += rest; });
  sync_warp();
  const int32_t* words = shape.words + span.begin;
  for (int i = lane(); i < span.length; i += warp_size) {
    if (i > 0 && words[i] == words[i - 1]) continue;
    const float p = expf(x[words[i]]) + share * (weight_of_word(words, own, i, span.length) / total);
    if (p > 1e-30f) x[words[i]] = logf(p);
  }
}

void mix_nearest(Context& context, const NearestShape& shape, ConstMatrix states, ConstMatrix known,
                 Matrix weights, Matrix mixed) {
  launch(context, row_grid("mix_nearest", mixed.rows), mix_nearest_kernel, shape, states, known, weights,
         mixed);
}

}  // namespace
}  // namespace dragoman::internal
