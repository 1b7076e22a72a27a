// The gradients of what distances add to attention, and the table's backward of attention. A block takes one head of a
// few spans; its threads share the tables' elements, and each adds up what its own get from the pairs of a tile. The
// blocks' sums are added in their order.
#pragma once

#include "kernels/cuda/attention_backward.inl.h"
#include "kernels/cuda/attention_tensor_backward.inl.h"
#include "kernels/cuda/flat.inl.h"

namespace dragoman::internal {
namespace {

constexpr int64_t spans_of_sums = 8;

// Elements of one head's tables: the bias by distance, the vectors of keys, those of values.
struct DistanceElements {
  int64_t bias_rows, vector_rows, width;
};
constexpr int64_t count_of(const DistanceElements& e) { return e.bias_rows + 2 * e.vector_rows * e.width; }

inline DistanceElements elements_of(const DistanceGradients& g) {
  return {g.bias.data != nullptr ? g.bias.rows : 0, g.keys.data != nullptr ? g.keys.rows : 0, g.keys.columns};
}

// Σ over the keys of a tile at this distance from the query of pairs(query, key).
GPU_FUNCTION float sum_at_distance(const Shared<float>& pairs, int query, int64_t rows, int64_t row,
                                   int64_t position, int64_t first_key) {
  const int64_t nearest = position + row - (rows - 1) / 2 - first_key;  // the lane of the row's own key
  const int64_t begin = row == 0 ? 0 : nearest, end = row == rows - 1 ? tile_of_lanes : nearest + 1;
  float sum = 0;
  for (int64_t j = begin < 0 ? 0 : begin; j < end && j < tile_of_lanes; ++j)
    sum += pairs[query * tile_of_lanes + static_cast<int>(j)];
  return sum;
}

// What element e gets from a tile's pairs: of scores' gradients in the first matrix, of weights in the second.
GPU_FUNCTION float element_sum(const AttentionBackward& o, const DistanceElements& elements,
                               const SpanHead& head, int64_t e, int64_t first, int64_t first_key) {
  const AttentionShape& shape = o.forward.shape;
  const bool of_bias = e < elements.bias_rows;
  const int64_t vectors = elements.vector_rows * elements.width, place = e - elements.bias_rows;
  const bool of_keys = place < vectors;
  const int64_t row = of_bias ? e : place % vectors / elements.width,
                column = of_bias ? 0 : place % elements.width;
  const int64_t rows = of_bias ? elements.bias_rows : elements.vector_rows;
  const ConstMatrix factors = of_keys ? o.forward.q : o.out_gradient;
  float sum = 0;
  for (int i = 0; i < own_rows() && first + i < head.queries.length; ++i) {
    const float pairs = sum_at_distance(pair_tile(of_bias || of_keys ? 0 : 1), i, rows, row,
                                        head.past + first + i, first_key);
    const int64_t query = head.queries.begin + first + i;
    sum += of_bias ? pairs
                   : pairs * factors.data[query * factors.row_stride + head.index * shape.width + column];
  }
  return of_bias || !of_keys ? sum : sum * shape.scale;
}

GPU_KERNEL distance_gradients_kernel(AttentionBackward o, DistanceElements elements, float* partial) {
  const AttentionShape& shape = o.forward.shape;
  const int64_t count = count_of(elements), group = block_index() / shape.heads * spans_of_sums;
  float* sums = partial + block_index() * count;
  for (int64_t e = thread_index(); e < count; e += block_threads()) sums[e] = 0;
  for (int64_t span = group; span < group + spans_of_sums && span < shape.spans; ++span) {
    const SpanHead head = head_of(shape, span * shape.heads + block_index() % shape.heads);
    for (int64_t first = 0; first < head.queries.length; first += own_rows()) {
      const int64_t keys = last_visible(shape, head, first);
      for (int64_t key = 0; key < keys; key += tile_of_lanes) {
        PairGradients pairs[own_of_warp];
        query_pairs(o, head, first, key, 0, pairs);
        float scores[own_of_warp], weights[own_of_warp];
        for (int i = 0; i < own_of_warp; ++i) {
          scores[i] = pairs[i].score;
          weights[i] = pairs[i].weight;
        }
        if (first + warp_index() * own_of_warp < head.queries.length) {
          store_pairs(scores, pair_tile(0));
          store_pairs(weights, pair_tile(1));
        }
        sync_block();
        for (int64_t e = thread_index(); e < count; e += block_threads())
          sums[e] += element_sum(o, elements, head, e, first, key);
      }
    }
  }
}

// Adds all blocks' sums to the gradients. A block's number is group · heads + head; vectors are of all heads.
GPU_KERNEL add_distance_gradients_kernel(DistanceGradients g, DistanceElements elements, int64_t heads,
                                         int64_t blocks, const float* partial) {
  const int64_t count = count_of(elements), vectors = elements.vector_rows * elements.width;
  const int64_t biases = elements.bias_rows * heads;
  for (int64_t i = first_item(); i < biases + 2 * vectors; i += item_step()) {
    const bool of_bias = i < biases;
    const int64_t place = (i - biases) % (vectors > 0 ? vectors : 1);
    const Matrix& gradient = of_bias ? g.bias : i - biases < vectors ? g.keys : g.values;
    const int64_t row = of_bias ? i / heads : place / elements.width;
    const int64_t column = of_bias ? i % heads : place % elements.width;
    const int64_t element = of_bias ? row : elements.bias_rows + i - biases;
    float sum = 0;
    for (int64_t b = of_bias ? column : 0; b < blocks; b += of_bias ? heads : 1)
      sum += partial[b * count + element];
    gradient.data[row * gradient.stride + column] += sum;
  }
}

inline void add_distance_gradients(Context& context, const AttentionBackward& operands,
                                   const DistanceGradients& gradients, float* partial) {
  const AttentionShape& shape = operands.forward.shape;
  const DistanceElements elements = elements_of(gradients);
  const int64_t blocks = ceil_div(shape.spans, spans_of_sums) * shape.heads;
  launch(context,
         {"distance_gradients", blocks, attention_warps * warp_size, attention_shared_bytes(attention_warps)},
         distance_gradients_kernel, operands, elements, partial);
  launch(context,
         flat_grid("add_distance_gradients",
                   elements.bias_rows * shape.heads + 2 * elements.vector_rows * elements.width),
         add_distance_gradients_kernel, gradients, elements, shape.heads, blocks, partial);
}

void attention_backward(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                        ConstMatrix v, ConstMatrix out, ConstMatrix out_gradient, const float* log_sums,
                        bool accumulate, Matrix q_gradient, Matrix k_gradient, Matrix v_gradient,
                        const DistanceGradients& distances) {
  if (in_bf16(q))
    return tensor_attention_backward(context, shape, q, k, v, out, out_gradient, log_sums, accumulate,
                                     q_gradient, k_gradient, v_gradient);
  const int64_t deltas = ceil_div(q.rows * shape.heads, 64) * 64;
  const int64_t sums = ceil_div(shape.spans, spans_of_sums) * shape.heads * count_of(elements_of(distances));
  float* memory = float_workspace(context, deltas + sums);
  const AttentionGrid grid = attention_grid(shape);
  const AttentionBackward operands = {
      {shape, dropout_mask(shape.dropout), grid, q, k, v}, out_gradient, log_sums, memory, accumulate};
  launch(context, row_grid("deltas", q.rows), deltas_kernel, out, out_gradient, shape.heads, shape.width,
         memory);
  launch(context, grid_of("query_gradient", shape, grid), query_gradient_kernel, operands, q_gradient);
  launch(context, grid_of("key_gradients", shape, grid), key_gradients_kernel, operands, k_gradient,
         v_gradient);
  if (sums > 0) add_distance_gradients(context, operands, distances, memory + deltas);
}

}  // namespace
}  // namespace dragoman::internal
