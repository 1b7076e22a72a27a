// Guided alignment: the loss of one head's attention weights, and how it reaches queries and keys.
#pragma once

#include "kernels/cuda/functions.inl.h"
#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

constexpr float least_weight = 1.17549435e-38f;  // whose logarithm is still finite

// A warp takes a row. Every lane goes through all links of the row: there are one or two.
GPU_KERNEL alignment_loss_kernel(QueryLinks links, float factor, Matrix weights, float* losses) {
  const int64_t r = row_of_warp();
  if (r >= weights.rows) return;
  float* row = weights.data + r * weights.stride;
  const int64_t first = links.begins[r], last = links.begins[r + 1];
  const float share = last > first ? 1 / static_cast<float>(last - first) : 0;
  float loss = 0;
  for (int64_t i = first; i < last; ++i) loss -= share * logf(fmaxf(row[links.keys[i]], least_weight));
  sync_warp();  // all lanes have read the weights
  for_each_column(weights.columns, [&](int64_t c) {
    float target = 0;
    for (int64_t i = first; i < last; ++i)
      if (links.keys[i] == c) target = share;
    row[c] = last > first ? factor * (row[c] - target) : 0;
  });
  if (lane() == 0) losses[r] = loss;
}

void alignment_loss(Context& context, const QueryLinks& links, float factor, Matrix weights, float* losses) {
  launch(context, row_grid("alignment_loss", weights.rows), alignment_loss_kernel, links, factor, weights,
         losses);
}

// A block takes a span, and each of its warps a row of it in turn: first of queries, then of keys.
constexpr int warps_of_span = 8;

// Row `to` += Σ scale · factors[i · step] · row (first + i) of `from`.
GPU_FUNCTION void add_weighted_rows(const float* factors, int64_t step, float scale, const ConstMatrix& from,
                                    int64_t first, int64_t count, float* to) {
  for_each_column(from.columns, [&](int64_t c) {
    float sum = to[c];
    for (int64_t i = 0; i < count; ++i)
      sum = fmaf(scale * factors[i * step], element(from, first + i, c), sum);
    to[c] = sum;
  });
}

GPU_KERNEL scores_backward_kernel(AttentionShape shape, ConstMatrix scores_gradient, ConstMatrix q,
                                  ConstMatrix k, Matrix q_gradient, Matrix k_gradient) {
  const Span queries = shape.queries[block_index()], keys = shape.keys[block_index()];
  const int64_t stride = scores_gradient.row_stride;
  const float* scores = scores_gradient.data + queries.begin * stride;
  for (int64_t i = warp_index(); i < queries.length; i += block_warps())
    add_weighted_rows(scores + i * stride, 1, shape.scale, k, keys.begin, keys.length,
                      q_gradient.data + (queries.begin + i) * q_gradient.stride);
  for (int64_t j = warp_index(); j < keys.length; j += block_warps())
    add_weighted_rows(scores + j, stride, shape.scale, q, queries.begin, queries.length,
                      k_gradient.data + (keys.begin + j) * k_gradient.stride);
}

void scores_backward(Context& context, const AttentionShape& shape, ConstMatrix scores_gradient,
                     ConstMatrix q, ConstMatrix k, Matrix q_gradient, Matrix k_gradient) {
  launch(context, {"scores_backward", shape.spans, warps_of_span * warp_size}, scores_backward_kernel, shape,
         scores_gradient, q, k, q_gradient, k_gradient);
}

}  // namespace
}  // namespace dragoman::internal
