// Attention's softmax: the scores of one query become probabilities.
#pragma once

#include "kernels/cpu/attention_distances.inl.h"
#include "kernels/cpu/loss.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

// Scores of one query become probabilities; masked keys get 0. Returns log Σ exp.
inline float softmax_row(float* scores, int64_t visible, int64_t keys, float scale) {
  Vec top = all(lowest_float);
  for (int64_t j = 0; j < visible; j += lanes) {
    const Vec s = load_logits(scores + j, visible - j) * all(scale);
    top = max(top, s);
  }
  const Vec highest = all(largest(top));
  Vec total = {};
  for (int64_t j = 0; j < visible; j += lanes) {
    const Vec e = exponential(load_logits(scores + j, visible - j) * all(scale) - highest);
    store_some(scores + j, e, visible - j);
    total += e;
  }
  const float sum_e = sum(total);
  const Vec inverse = all(1 / sum_e);
  for (int64_t j = 0; j < visible; j += lanes) {
    store_some(scores + j, load_some(scores + j, visible - j) * inverse, visible - j);
  }
  fill(scores + visible, keys - visible, 0);
  return highest[0] + logf(sum_e);
}

// The same where distances add to the scores. i: the query's row of its tile.
inline float softmax_row(const AttentionShape& shape, const Distances& distances, int64_t i, int64_t position,
                         int64_t visible, int64_t keys, float* scores) {
  if (!has_distances(shape)) return softmax_row(scores, visible, keys, shape.scale);
  distances.add_to_scores(i, position, visible, scores);
  return softmax_row(scores, visible, keys, 1);
}

}  // namespace
}  // namespace dragoman::internal
