// Attention over spans: softmax(scale · q·kᵀ)·v, head by head, and what distances add (attention_distances.inl.h).
//
// A task is one head of one sentence. Queries are taken a tile at a time, from the span's start; a tile's scores
// for all keys exist in the worker's workspace only. Backward (attention_backward.inl.h) recomputes them.
// Rows are independent: a query's result is the same alone (decoding) and among others (training).
#pragma once

#include "kernels/cpu/attention_distances.inl.h"
#include "kernels/cpu/attention_heads.inl.h"
#include "kernels/cpu/loss.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/random.inl.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/single_thread.inl.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

// --- one query --------------------------------------------------------------------------------------

// scores of one query become probabilities; masked keys get 0. Returns log Σ exp.
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

inline void drop_row(const DropoutMask& mask, RowKey row, int64_t head, int64_t keys, float* p) {
  for (int64_t begin = 0; begin < keys; begin += dropout_block) {
    float multipliers[dropout_block];
    dropout_multipliers(mask, row, static_cast<uint32_t>(head), begin / dropout_block, multipliers);
    for (int64_t j = begin; j < smaller(keys, begin + dropout_block); j += lanes) {
      store_some(p + j, load_some(p + j, keys - j) * load(multipliers + (j - begin)), keys - j);
    }
  }
}

// The same where distances add to the scores. i: the query's row of its tile.
inline float softmax_row(const AttentionShape& shape, const Distances& distances, int64_t i, int64_t position,
                         int64_t visible, int64_t keys, float* scores) {
  if (!has_distances(shape)) return softmax_row(scores, visible, keys, shape.scale);
  distances.add_to_scores(i, position, visible, scores);
  return softmax_row(scores, visible, keys, 1);
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

// --- decoding: one query for each sentence, its keys and values in the rows of a cache -------------------

// Its cost is dominated by memory traffic: each key and value is read once. So nothing is packed: a square of keys is
// transposed in registers and multiplied with the query by the same chain of sums as above, with the same bits. A
// head's part of a row is prefetched during the head before it, which is adjacent.

// A head's keys that one query sees, or their values, wherever their rows are.
struct VisibleKeys {
  const float* data;
  int64_t stride;
  const int32_t* rows;
  int64_t count, width;

  const float* row(int64_t j) const { return data + rows[j] * stride; }
};

// Of `lanes` keys from j on.
inline void score_keys(const float* q, const VisibleKeys& k, int64_t j, float* scores) {
  Vec sums = {};
  for (int64_t w = 0; w < k.width; w += lanes) {
    Vec square[lanes];
#pragma GCC unroll 16
    for (int64_t i = 0; i < lanes; ++i)
      square[i] = j + i < k.count ? load_some(k.row(j + i) + w, k.width - w) : Vec{};
    for (int64_t i = 0; i < lanes && j + i < k.count; ++i) __builtin_prefetch(k.row(j + i) + w + k.width);
    transpose(square);
#pragma GCC unroll 16
    for (int64_t i = 0; i < lanes; ++i)
      if (w + i < k.width) sums = multiply_add(all(q[w + i]), square[i], sums);
  }
  store_some(scores + j, sums, k.count - j);
}

// `vectors` of the columns from w on.
template <int vectors>
void add_values(const float* p, const VisibleKeys& v, int64_t w, float* out) {
  Vec sums[vectors] = {};
  for (int64_t j = 0; j < v.count; ++j) {
    const float* row = v.row(j);
    for (int i = 0; i < vectors; ++i) __builtin_prefetch(row + w + (vectors + i) * lanes);
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) {
      const int64_t column = w + i * lanes;
      sums[i] = multiply_add(
          all(p[j]), vectors > 1 ? load(row + column) : load_some(row + column, v.width - column), sums[i]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < vectors; ++i) store_some(out + w + i * lanes, sums[i], v.width - w - i * lanes);
}

inline void add_all_values(const float* p, const VisibleKeys& v, float* out) {
  int64_t w = 0;
  for (; w + 4 * lanes <= v.width; w += 4 * lanes) add_values<4>(p, v, w, out);
  for (; w < v.width; w += lanes) add_values<1>(p, v, w, out);
}

// A worker's memory for it: the scores of some heads, and what distances need.
struct RowsMemory {
  static int64_t floats(const AttentionShape& shape, int64_t heads) {
    return heads * padded(shape.longest_keys) + single_thread_block_size() + Distances::floats(shape) +
           2 * 16;
  }
  RowsMemory(const AttentionShape& shape, int64_t heads, Pieces memory)
      : scores(memory.take(heads * padded(shape.longest_keys))),
        block(memory.take(single_thread_block_size())),
        distances(shape, memory) {}

  float *scores, *block;
  Distances distances;
};

// One query that sees all keys.
inline Head last_query(int64_t head, int64_t keys) {
  return {head, {0, 1}, {0, static_cast<int32_t>(keys)}, keys - 1};
}

// Its scores, as products of q and keys, become probabilities.
inline void weigh_last(const AttentionShape& shape, const Head& head, const float* q, float* scores,
                       Distances& distances, float* block) {
  const int64_t keys = head.keys.length;
  distances.begin_head(head.index, false);
  distances.begin_tile({q, 1, shape.width, shape.width}, block);
  softmax_row(shape, distances, 0, head.position(0), keys, keys, scores);
}

// Heads [first, end) of one sentence; k and v are of head 0. The keys of a few rows are read by all heads in turn, then
// those of the next few: what was prefetched must still be in the first-level cache when it is used.
inline void attend_to_rows(const AttentionShape& shape, VisibleKeys k, VisibleKeys v, int64_t first,
                           int64_t end, const float* q, float* out, RowsMemory& memory) {
  const int64_t keys = k.count, width = shape.width, stride = padded(keys);
  float* scores = memory.scores;
  const auto of_head = [&](VisibleKeys rows, int64_t head) {
    rows.data += head * width;
    return rows;
  };
  for (int64_t j = 0; j < keys; j += lanes) {
    for (int64_t h = first; h < end; ++h)
      score_keys(q + h * width, of_head(k, h), j, scores + (h - first) * stride);
  }
  for (int64_t h = first; h < end; ++h) {
    const Head head = last_query(h, keys);
    float* p = scores + (h - first) * stride;
    weigh_last(shape, head, q + h * width, p, memory.distances, memory.block);
    add_all_values(p, of_head(v, h), out + h * width);
    memory.distances.add_values(head, 0, false, {p, 1, keys, stride}, {out + h * width, 1, width, width},
                                memory.block);
  }
}

inline void attend_to_cache(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                            ConstMatrix v, Matrix out) {
  const auto do_sentence = [&](int64_t sentence, int64_t first, int64_t end, RowsMemory& memory) {
    const Span keys = shape.keys[sentence];
    const int64_t row = shape.queries[sentence].begin;
    const int32_t* rows = shape.key_rows + keys.begin;
    attend_to_rows(shape, {k.data, k.row_stride, rows, keys.length, shape.width},
                   {v.data, v.row_stride, rows, keys.length, shape.width}, first, end,
                   q.data + row * q.row_stride, out.data + row * out.stride, memory);
  };
  // Few sentences are split by heads; of many, a few neighbours are a task: as hypotheses of one source they share
  // keys.
  const int64_t sentences = shape.spans >= 4 * enough_tasks ? 4 : 1;
  const int64_t heads = shape.spans >= enough_tasks ? shape.heads : 1, cuts = shape.heads / heads;
  const auto bytes = static_cast<size_t>(RowsMemory::floats(shape, heads)) * sizeof(float);
  for_each_task(context, ceil_div(shape.spans, sentences) * cuts, [&](int64_t task, int worker) {
    RowsMemory memory(shape, heads, Pieces(cpu(context).local(worker, bytes)));
    const int64_t begin = task / cuts * sentences, head = task % cuts * heads;
    for (int64_t i = begin; i < smaller(shape.spans, begin + sentences); ++i)
      do_sentence(i, head, head + heads, memory);
  });
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

// With the bits of attend_to_cache.
inline void weigh_cache(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                        Matrix weights) {
  const auto bytes = static_cast<size_t>(RowsMemory::floats(shape, 0)) * sizeof(float);
  for_each_task(context, shape.spans, [&](int64_t sentence, int worker) {
    RowsMemory memory(shape, 0, Pieces(cpu(context).local(worker, bytes)));
    const Span keys = shape.keys[sentence];
    const int64_t row = shape.queries[sentence].begin, unused = shape.longest_keys - keys.length;
    const int32_t* rows = shape.key_rows + keys.begin;
    for (int64_t h = 0; h < shape.heads; ++h) {
      const VisibleKeys seen = {k.data + h * shape.width, k.row_stride, rows, keys.length, shape.width};
      float* scores = weights.data + row * weights.stride + h * shape.longest_keys;
      const float* my_q = q.data + row * q.row_stride + h * shape.width;
      for (int64_t j = 0; j < keys.length; j += lanes) score_keys(my_q, seen, j, scores);
      weigh_last(shape, last_query(h, keys.length), my_q, scores, memory.distances, memory.block);
      fill(scores + keys.length, unused, 0);
    }
  });
}

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
