// Attention over spans: softmax(scale · q·kᵀ)·v, head by head, and what distances add (attention_distances.inl.h).
//
// A task is one head of one sentence. Queries are taken a tile at a time, from the span's start; a tile's scores
// for all keys exist in the worker's workspace only. Backward (attention_backward.inl.h) recomputes them.
// Rows are independent: a query's result is the same alone (decoding) and among others (training).
#pragma once

#include "kernels/cpu/attention_cached.inl.h"
#include "kernels/cpu/attention_distances.inl.h"
#include "kernels/cpu/attention_heads.inl.h"
#include "kernels/cpu/attention_softmax.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/random.inl.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/single_thread.inl.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

inline void drop_row(const DropoutMask& mask, RowKey row, int64_t head, int64_t keys, float* p) {
  for (int64_t begin = 0; begin < keys; begin += dropout_block) {
    float multipliers[dropout_block];
    dropout_multipliers(mask, row, static_cast<uint32_t>(head), begin / dropout_block, multipliers);
    for (int64_t j = begin; j < smaller(keys, begin + dropout_block); j += lanes) {
      store_some(p + j, load_some(p + j, keys - j) * load(multipliers + (j - begin)), keys - j);
    }
  }
}

// The probabilities of a tile of queries, the span's `first` and those after it, over all keys of the span.
inline void weigh(const AttentionShape& shape, const Head& head, Distances& distances, int64_t first,
                  ConstMatrix q, PackedMatrix k, Matrix tile, float* log_sums, float* block) {
  const int64_t row = head.queries.begin + first;
  const ConstMatrix my_q = part_of(q, row, tile.rows, head.index, shape.width);
  multiply_single_thread(my_q, k, tile, false, block);
  distances.begin_tile(my_q, block);
  for (int64_t i = 0; i < tile.rows; ++i) {
    const int64_t visible = head.visible(first + i, shape.causal);
    const float log_sum = softmax_row(shape, distances, i, head.position(first + i), visible, tile.columns,
                                      tile.data + i * tile.stride);
    if (log_sums != nullptr) log_sums[(row + i) * shape.heads + head.index] = log_sum;
  }
}

inline void attend(const AttentionShape& shape, const Head& head, ConstMatrix q, ConstMatrix k, ConstMatrix v,
                   Matrix out, float* log_sums, Pieces memory) {
  const int64_t keys = head.keys.length, width = shape.width;
  const DropoutMask mask = dropout_mask(shape.dropout);
  float* packed_k = memory.take(packed_size(width, keys));
  float* packed_v = memory.take(packed_size(keys, width));
  float* block = memory.take(single_thread_block_size());
  float* scores = memory.take(query_tile * padded(keys));
  Distances distances(shape, memory);
  distances.begin_head(head.index, true);
  pack_single_thread(part_of(k, head.keys.begin, keys, head.index, width).transposed(), packed_k);
  pack_single_thread(part_of(v, head.keys.begin, keys, head.index, width), packed_v);

  for (int64_t first = 0; first < head.queries.length; first += query_tile) {
    const int64_t rows = smaller(query_tile, head.queries.length - first), row = head.queries.begin + first;
    const Matrix tile = {scores, rows, keys, padded(keys)};
    weigh(shape, head, distances, first, q, {packed_k, width, keys}, tile, log_sums, block);
    for (int64_t i = 0; i < rows && shape.dropout.rate > 0; ++i)
      drop_row(mask, shape.dropout.rows[row + i], head.index, keys, scores + i * tile.stride);
    const Matrix my_out = part_of(out, row, rows, head.index, width);
    multiply_single_thread(tile, {packed_v, keys, width}, my_out, false, block);
    distances.add_values(head, first, shape.causal, tile, my_out, block);
  }
}

// --- all --------------------------------------------------------------------------------------------

void attention(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k, ConstMatrix v,
               Matrix out, float* log_sums) {
  if (shape.key_rows != nullptr) return attend_to_cache(context, shape, q, k, v, out);
  const int64_t keys = shape.longest_keys;
  const int64_t floats = packed_size(shape.width, keys) + packed_size(keys, shape.width) +
                         single_thread_block_size() + query_tile * padded(keys) + Distances::floats(shape) +
                         4 * 16;
  for_each_task(context, shape.spans * shape.heads, [&](int64_t task, int worker) {
    void* memory = cpu(context).local(worker, static_cast<size_t>(floats) * sizeof(float));
    attend(shape, head_of_task(shape, task), q, k, v, out, log_sums, Pieces(memory));
  });
}

// --- attention weights ------------------------------------------------------------------------------

void attention_weights(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                       Matrix weights) {
  if (shape.key_rows != nullptr) return weigh_cache(context, shape, q, k, weights);
  const int64_t floats = packed_size(shape.width, shape.longest_keys) + single_thread_block_size() +
                         Distances::floats(shape) + 2 * 16;
  for_each_task(context, shape.spans * shape.heads, [&](int64_t task, int worker) {
    const Head head = head_of_task(shape, task);
    const int64_t keys = head.keys.length, width = shape.width;
    Pieces memory(cpu(context).local(worker, static_cast<size_t>(floats) * sizeof(float)));
    float* packed_k = memory.take(packed_size(width, keys));
    float* block = memory.take(single_thread_block_size());
    Distances distances(shape, memory);
    distances.begin_head(head.index, true);
    pack_single_thread(part_of(k, head.keys.begin, keys, head.index, width).transposed(), packed_k);
    for (int64_t first = 0; first < head.queries.length; first += query_tile) {
      const int64_t rows = smaller(query_tile, head.queries.length - first);
      Matrix tile = part_of(weights, head.queries.begin + first, rows, head.index, shape.longest_keys);
      tile.columns = keys;
      weigh(shape, head, distances, first, q, {packed_k, width, keys}, tile, nullptr, block);
      for (int64_t i = 0; i < rows; ++i)
        fill(tile.data + i * tile.stride + keys, shape.longest_keys - keys, 0);
    }
  });
}

}  // namespace
}  // namespace dragoman::internal
