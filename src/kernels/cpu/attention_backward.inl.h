// The backward of attention: probabilities come from log Σ exp, and from them the gradients of q, k and v, and of what
// distances add.
#pragma once

#include "kernels/cpu/attention.inl.h"
#include "kernels/cpu/attention_distances_backward.inl.h"

namespace dragoman::internal {
namespace {

// With P the probabilities and D dropout's multipliers: on entry p holds scores and dp the gradient of P∘D; on
// return p holds P∘D, and dp the gradient of the scores before scaling, scale · P∘(dP − Σ dP∘P).
struct SoftmaxBackward {
  float scale, log_sum, delta;  // delta: Σ dP∘P, which is out · its gradient
  int64_t visible, keys;
};

inline void softmax_row_backward(const SoftmaxBackward& row, const float* multipliers, float* p, float* dp) {
  for (int64_t j = 0; j < row.visible; j += lanes) {
    const int64_t left = row.visible - j;
    const Vec probability = exponential(load_some(p + j, left) * all(row.scale) - all(row.log_sum));
    const Vec d = multipliers != nullptr ? load_some(multipliers + j, left) : all(1.0f);
    const Vec dprobability = load_some(dp + j, left) * d;
    store_some(p + j, probability * d, left);
    store_some(dp + j, probability * (dprobability - all(row.delta)) * all(row.scale), left);
  }
  fill(p + row.visible, row.keys - row.visible, 0);
  fill(dp + row.visible, row.keys - row.visible, 0);
}

struct AttentionGradients {
  ConstMatrix out, out_gradient;
  const float* log_sums;
  bool accumulate;
  Matrix q, k, v;
};

// A task is one head of a few sentences where distances have gradients, so that there are not too many sums of them.
inline int64_t spans_of_task(const DistanceGradients& gradients) { return has_gradients(gradients) ? 8 : 1; }

// Dropout's multipliers of a query's probabilities, in `memory`; null where nothing drops.
inline const float* row_multipliers(const AttentionShape& shape, int64_t row, int64_t head, int64_t keys,
                                    float* memory) {
  if (shape.dropout.rate == 0) return nullptr;
  const DropoutMask mask = dropout_mask(shape.dropout);
  for (int64_t b = 0; b * dropout_block < keys; ++b)
    dropout_multipliers(mask, shape.dropout.rows[row], static_cast<uint32_t>(head), b,
                        memory + b * dropout_block);
  return memory;
}

// `sums`: of the distances' gradients, which a head of a span adds to.
inline void attend_backward(const AttentionShape& shape, const Head& head, ConstMatrix q, ConstMatrix k,
                            ConstMatrix v, const AttentionGradients& gradients, DistanceSums* sums,
                            Pieces memory) {
  const int64_t keys = head.keys.length, width = shape.width, h = head.index;
  float* k_columns = memory.take(packed_size(width, keys));
  float* v_columns = memory.take(packed_size(width, keys));
  float* k_rows = memory.take(packed_size(keys, width));
  float* tile_rows_packed = memory.take(packed_size(query_tile, width));
  float* block = memory.take(single_thread_block_size());
  float* scores = memory.take(query_tile * padded(keys));
  float* score_gradients = memory.take(query_tile * padded(keys));
  float* multipliers = memory.take(ceil_div(keys, dropout_block) * dropout_block);
  Distances distances(shape, memory);
  DistancesBackward distances_backward(shape, sums, memory);
  distances.begin_head(h, true);
  const ConstMatrix my_k = part_of(k, head.keys.begin, keys, h, width);
  pack_single_thread(my_k.transposed(), k_columns);
  pack_single_thread(part_of(v, head.keys.begin, keys, h, width).transposed(), v_columns);
  pack_single_thread(my_k, k_rows);

  for (int64_t first = 0; first == 0 || first < head.queries.length; first += query_tile) {
    const int64_t rows = smaller(query_tile, head.queries.length - first), row = head.queries.begin + first;
    const bool later = gradients.accumulate || first > 0;
    const Matrix p = {scores, rows, keys, padded(keys)}, dp = {score_gradients, rows, keys, padded(keys)};
    const ConstMatrix my_q = part_of(q, row, rows, h, width),
                      out = part_of(gradients.out, row, rows, h, width);
    const ConstMatrix dout = part_of(gradients.out_gradient, row, rows, h, width);
    multiply_single_thread(my_q, {k_columns, width, keys}, p, false, block);
    multiply_single_thread(dout, {v_columns, width, keys}, dp, false, block);
    distances.begin_tile(my_q, block);
    distances_backward.add_value_products(head, first, shape.causal, dout, dp, block);
    for (int64_t i = 0; i < rows; ++i) {
      const bool scaled = has_distances(shape);  // add_to_scores has scaled them
      const SoftmaxBackward at = {
          .scale = scaled ? 1 : shape.scale,
          .log_sum = gradients.log_sums[(row + i) * shape.heads + h],
          .delta = dot(out.data + i * out.row_stride, dout.data + i * dout.row_stride, width),
          .visible = head.visible(first + i, shape.causal),
          .keys = keys};
      float *p_row = scores + i * p.stride, *dp_row = score_gradients + i * dp.stride;
      const int64_t position = head.position(first + i);
      if (scaled) distances.add_to_scores(i, position, at.visible, p_row);
      softmax_row_backward(at, row_multipliers(shape, row + i, h, keys, multipliers), p_row, dp_row);
      if (scaled) distances_backward.add_bias(position, at.visible, dp_row);
    }
    const PackedMatrix of_tile = {tile_rows_packed, rows, width};
    pack_single_thread(dout, tile_rows_packed);
    multiply_single_thread(ConstMatrix(p).transposed(), of_tile,
                           part_of(gradients.v, head.keys.begin, keys, h, width), later, block);
    distances_backward.add_value_vectors(head, first, shape.causal, p, of_tile, block);
    pack_single_thread(my_q, tile_rows_packed);
    multiply_single_thread(ConstMatrix(dp).transposed(), of_tile,
                           part_of(gradients.k, head.keys.begin, keys, h, width), later, block);
    const Matrix q_gradient = part_of(gradients.q, row, rows, h, width);
    multiply_single_thread(dp, {k_rows, keys, width}, q_gradient, gradients.accumulate, block);
    distances_backward.add_key_vectors(head, first, shape.causal, dp, of_tile, q_gradient, block);
  }
}

void attention_backward(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                        ConstMatrix v, ConstMatrix out, ConstMatrix out_gradient, const float* log_sums,
                        bool accumulate, Matrix q_gradient, Matrix k_gradient, Matrix v_gradient,
                        const DistanceGradients& distance_gradients) {
  const int64_t keys = shape.longest_keys, width = shape.width;
  const AttentionGradients gradients = {out,        out_gradient, log_sums,  accumulate,
                                        q_gradient, k_gradient,   v_gradient};
  const int64_t floats = 2 * packed_size(width, keys) + packed_size(keys, width) +
                         packed_size(query_tile, width) + single_thread_block_size() +
                         2 * query_tile * padded(keys) + keys + dropout_block + Distances::floats(shape) +
                         DistancesBackward::floats(shape) + 8 * 16;
  const int64_t spans = spans_of_task(distance_gradients), tasks = ceil_div(shape.spans, spans) * shape.heads;
  const int64_t sum_floats = DistanceSums::floats(distance_gradients);
  float* all_sums = nullptr;
  if (sum_floats > 0)
    all_sums =
        static_cast<float*>(cpu(context).shared(static_cast<size_t>(tasks * sum_floats) * sizeof(float)));
  for_each_task(context, tasks, [&](int64_t task, int worker) {
    void* memory = cpu(context).local(worker, static_cast<size_t>(floats) * sizeof(float));
    DistanceSums sums(distance_gradients, all_sums + task * sum_floats);
    const int64_t first = task / shape.heads * spans;
    for (int64_t span = first; span < smaller(first + spans, shape.spans); ++span) {
      const Head head = head_of_task(shape, span * shape.heads + task % shape.heads);
      attend_backward(shape, head, q, k, v, gradients, sum_floats > 0 ? &sums : nullptr, Pieces(memory));
    }
  });
  if (sum_floats > 0) add_sums(context, distance_gradients, all_sums, tasks, shape.heads);
}

}  // namespace
}  // namespace dragoman::internal
