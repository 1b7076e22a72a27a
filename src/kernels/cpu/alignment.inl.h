// Guided alignment: the loss of one head's attention weights, and how it reaches queries and keys. Next to the
// products of a step this is little work, so that nothing is packed.
#pragma once

#include "kernels/cpu/loss.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

constexpr float least_weight = 1.17549435e-38f;  // whose logarithm is still finite

void alignment_loss(Context& context, const QueryLinks& links, float factor, Matrix weights, float* losses) {
  for_each_row(context, weights.rows, weights.columns, [&](int64_t r) {
    float* row = weights.data + r * weights.stride;
    const int64_t first = links.begins[r], last = links.begins[r + 1];
    losses[r] = 0;
    if (first == last) {
      fill(row, weights.columns, 0);
      return;
    }
    const float share = 1 / static_cast<float>(last - first);
    for (int64_t i = first; i < last; ++i) {
      const float weight = row[links.keys[i]];
      losses[r] -= share * logf(weight > least_weight ? weight : least_weight);
    }
    for (int64_t i = first; i < last; ++i) row[links.keys[i]] -= share;
    for (int64_t c = 0; c < weights.columns; c += lanes)
      store_some(row + c, load_some(row + c, weights.columns - c) * all(factor), weights.columns - c);
  });
}

// to += Σ scale · factors[i · step] · row i of `from`, for the columns of one row.
inline void add_weighted_rows(const float* factors, int64_t step, float scale, ConstMatrix from, float* to) {
  for (int64_t c = 0; c < from.columns; c += lanes) {
    const int64_t left = from.columns - c;
    Vec sum = load_some(to + c, left);
    for (int64_t i = 0; i < from.rows; ++i)
      sum = multiply_add(all(scale * factors[i * step]), load_some(from.data + i * from.row_stride + c, left),
                         sum);
    store_some(to + c, sum, left);
  }
}

void scores_backward(Context& context, const AttentionShape& shape, ConstMatrix scores_gradient,
                     ConstMatrix q, ConstMatrix k, Matrix q_gradient, Matrix k_gradient) {
  for_each_task(context, shape.spans, [&](int64_t span, int) {
    const Span queries = shape.queries[span], keys = shape.keys[span];
    const int64_t stride = scores_gradient.row_stride;
    const float* scores = scores_gradient.data + queries.begin * stride;
    const ConstMatrix my_q = {q.data + queries.begin * q.row_stride, queries.length, q.columns, q.row_stride};
    const ConstMatrix my_k = {k.data + keys.begin * k.row_stride, keys.length, k.columns, k.row_stride};
    for (int64_t i = 0; i < queries.length; ++i)
      add_weighted_rows(scores + i * stride, 1, shape.scale, my_k,
                        q_gradient.data + (queries.begin + i) * q_gradient.stride);
    for (int64_t j = 0; j < keys.length; ++j)
      add_weighted_rows(scores + j, stride, shape.scale, my_q,
                        k_gradient.data + (keys.begin + j) * k_gradient.stride);
  });
}

}  // namespace
}  // namespace dragoman::internal
