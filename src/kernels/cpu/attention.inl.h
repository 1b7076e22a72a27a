// Attention over spans, forward and backward: softmax(scale · q·kᵀ + distance bias)·v, head by head.
//
// A task is one head of one sentence. Queries are taken a tile at a time, from the span's start; a tile's scores
// for all keys exist in the worker's workspace only. Backward recomputes them from log Σ exp.
// Rows are independent: a query's result is the same alone (decoding) and among others (training).
#pragma once

#include "kernels/cpu/loss.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/random.inl.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/single_thread.inl.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

constexpr int64_t query_tile = single_thread_rows;

// --- one head of one sentence -----------------------------------------------------------------------

// Rows [first, first + rows), columns of this head.
inline ConstMatrix part_of(ConstMatrix m, int64_t first, int64_t rows, int64_t head, int64_t width) {
  return {m.data + first * m.row_stride + head * width, rows, width, m.row_stride, 1};
}
inline Matrix part_of(Matrix m, int64_t first, int64_t rows, int64_t head, int64_t width) {
  return {m.data + first * m.stride + head * width, rows, width, m.stride};
}

struct Head {
  int64_t index;
  Span queries, keys;
  int64_t past;  // the first query's position among the keys: after those of earlier steps of decoding

  // The number of keys that query i attends to.
  int64_t visible(int64_t i, bool causal) const { return causal ? past + i + 1 : keys.length; }
};

inline Head head_of_task(const AttentionShape& shape, int64_t task) {
  const Span queries = shape.queries[task / shape.heads], keys = shape.keys[task / shape.heads];
  return {task % shape.heads, queries, keys, keys.length - queries.length};
}

// A worker's workspace, split into pieces that are aligned to cache lines.
class Pieces {
 public:
  explicit Pieces(void* memory) : next_(static_cast<float*>(memory)) {}
  float* take(int64_t floats) {
    float* piece = next_;
    next_ += ceil_div(floats, 16) * 16;
    return piece;
  }

 private:
  float* next_;
};

inline int64_t padded(int64_t n) { return ceil_div(n, 16) * 16; }

// --- a head's bias by distance ----------------------------------------------------------------------

inline int64_t reach_of(ConstMatrix bias) { return (bias.rows - 1) / 2; }
inline int64_t row_of_distance(ConstMatrix bias, int64_t distance) {
  const int64_t reach = reach_of(bias);
  return smaller(larger(distance, -reach), reach) + reach;
}

// The bias of one head for all distances in a span, so that a query's is a part of it: from that of the last query's
// first key to that of the first query's last.
struct HeadBias {
  const float* by_distance = nullptr;  // null: none
  int64_t last_position = 0;

  // Of the query at this position, for each key.
  const float* of(int64_t position) const { return by_distance + last_position - position; }
};

// Spans with a bias have no more queries than keys.
inline int64_t most_distances(const AttentionShape& shape) {
  return shape.distance_bias.data != nullptr ? 2 * shape.longest_keys : 0;
}

// memory: for most_distances().
inline HeadBias head_bias(const AttentionShape& shape, const Head& head, float* memory) {
  const ConstMatrix bias = shape.distance_bias;
  if (bias.data == nullptr) return {};
  const int64_t last = head.past + head.queries.length - 1;
  for (int64_t j = 0; j < head.queries.length + head.keys.length - 1; ++j)
    memory[j] = bias.data[row_of_distance(bias, j - last) * bias.row_stride + head.index];
  return {memory, last};
}

// --- scores and probabilities -----------------------------------------------------------------------

// scores = scale · scores + bias
inline void add_bias(float* scores, int64_t count, float scale, const float* bias) {
  for (int64_t j = 0; j < count; j += lanes) {
    const int64_t left = count - j;
    store_some(scores + j, multiply_add(load_some(scores + j, left), all(scale), load_some(bias + j, left)),
               left);
  }
}

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

// The same of scores that get a bias first.
inline float biased_softmax_row(float* scores, int64_t visible, int64_t keys, float scale,
                                const HeadBias& bias, int64_t position) {
  if (bias.by_distance == nullptr) return softmax_row(scores, visible, keys, scale);
  add_bias(scores, visible, scale, bias.of(position));
  return softmax_row(scores, visible, keys, 1);
}

// The probabilities of a tile of queries, the span's `first` and those after it, over all keys of the span.
inline void weigh(const AttentionShape& shape, const Head& head, const HeadBias& bias, int64_t first,
                  ConstMatrix q, PackedMatrix k, Matrix tile, float* log_sums, float* block) {
  const int64_t row = head.queries.begin + first;
  multiply_single_thread(part_of(q, row, tile.rows, head.index, shape.width), k, tile, false, block);
  for (int64_t i = 0; i < tile.rows; ++i) {
    const int64_t visible = head.visible(first + i, shape.causal);
    const float log_sum = biased_softmax_row(tile.data + i * tile.stride, visible, tile.columns, shape.scale,
                                             bias, head.past + first + i);
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
  const HeadBias bias = head_bias(shape, head, memory.take(most_distances(shape)));
  pack_single_thread(part_of(k, head.keys.begin, keys, head.index, width).transposed(), packed_k);
  pack_single_thread(part_of(v, head.keys.begin, keys, head.index, width), packed_v);

  for (int64_t first = 0; first < head.queries.length; first += query_tile) {
    const int64_t rows = smaller(query_tile, head.queries.length - first), row = head.queries.begin + first;
    const Matrix tile = {scores, rows, keys, padded(keys)};
    weigh(shape, head, bias, first, q, {packed_k, width, keys}, tile, log_sums, block);
    for (int64_t i = 0; i < rows && shape.dropout.rate > 0; ++i)
      drop_row(mask, shape.dropout.rows[row + i], head.index, keys, scores + i * tile.stride);
    multiply_single_thread(tile, {packed_v, keys, width}, part_of(out, row, rows, head.index, width), false,
                           block);
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

// The scores of the last position become probabilities.
inline void weigh_last(const AttentionShape& shape, int64_t head, int64_t keys, float* scores,
                       float* distances) {
  const Head last = {head, {0, 1}, {0, static_cast<int32_t>(keys)}, keys - 1};
  biased_softmax_row(scores, keys, keys, shape.scale, head_bias(shape, last, distances), last.past);
}

// Heads [first, end) of one sentence; k and v are of head 0. The keys of a few rows are read by all heads in turn, then
// those of the next few: what was prefetched must still be in the first-level cache when it is used.
inline void attend_to_rows(const AttentionShape& shape, VisibleKeys k, VisibleKeys v, int64_t first,
                           int64_t end, const float* q, float* out, float* scores, float* distances) {
  const int64_t keys = k.count, width = shape.width, stride = padded(keys);
  const auto of_head = [&](VisibleKeys rows, int64_t head) {
    rows.data += head * width;
    return rows;
  };
  for (int64_t j = 0; j < keys; j += lanes) {
    for (int64_t h = first; h < end; ++h)
      score_keys(q + h * width, of_head(k, h), j, scores + (h - first) * stride);
  }
  for (int64_t h = first; h < end; ++h) weigh_last(shape, h, keys, scores + (h - first) * stride, distances);
  for (int64_t h = first; h < end; ++h)
    add_all_values(scores + (h - first) * stride, of_head(v, h), out + h * width);
}

inline void attend_to_cache(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                            ConstMatrix v, Matrix out) {
  const auto do_sentence = [&](int64_t sentence, int64_t first, int64_t end, float* scores,
                               float* distances) {
    const Span keys = shape.keys[sentence];
    const int64_t row = shape.queries[sentence].begin;
    const int32_t* rows = shape.key_rows + keys.begin;
    attend_to_rows(shape, {k.data, k.row_stride, rows, keys.length, shape.width},
                   {v.data, v.row_stride, rows, keys.length, shape.width}, first, end,
                   q.data + row * q.row_stride, out.data + row * out.stride, scores, distances);
  };
  // Few sentences are split by heads; of many, a few neighbours are a task: as hypotheses of one source they share
  // keys.
  const int64_t sentences = shape.spans >= 4 * enough_tasks ? 4 : 1;
  const int64_t heads = shape.spans >= enough_tasks ? shape.heads : 1, cuts = shape.heads / heads;
  const int64_t floats = heads * padded(shape.longest_keys) + most_distances(shape) + 2 * 16;
  for_each_task(context, ceil_div(shape.spans, sentences) * cuts, [&](int64_t task, int worker) {
    Pieces memory(cpu(context).local(worker, static_cast<size_t>(floats) * sizeof(float)));
    float* scores = memory.take(heads * padded(shape.longest_keys));
    float* distances = memory.take(most_distances(shape));
    const int64_t begin = task / cuts * sentences, head = task % cuts * heads;
    for (int64_t i = begin; i < smaller(shape.spans, begin + sentences); ++i)
      do_sentence(i, head, head + heads, scores, distances);
  });
}

// --- all --------------------------------------------------------------------------------------------

void attention(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k, ConstMatrix v,
               Matrix out, float* log_sums) {
  if (shape.key_rows != nullptr) return attend_to_cache(context, shape, q, k, v, out);
  const int64_t keys = shape.longest_keys;
  const int64_t floats = packed_size(shape.width, keys) + packed_size(keys, shape.width) +
                         single_thread_block_size() + query_tile * padded(keys) + most_distances(shape) +
                         5 * 16;
  for_each_task(context, shape.spans * shape.heads, [&](int64_t task, int worker) {
    void* memory = cpu(context).local(worker, static_cast<size_t>(floats) * sizeof(float));
    attend(shape, head_of_task(shape, task), q, k, v, out, log_sums, Pieces(memory));
  });
}

// --- attention weights ------------------------------------------------------------------------------

// With the bits of attend_to_cache.
inline void weigh_cache(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                        Matrix weights) {
  for_each_task(context, shape.spans, [&](int64_t sentence, int worker) {
    auto* distances = static_cast<float*>(
        cpu(context).local(worker, static_cast<size_t>(most_distances(shape)) * sizeof(float)));
    const Span keys = shape.keys[sentence];
    const int64_t row = shape.queries[sentence].begin, unused = shape.longest_keys - keys.length;
    const int32_t* rows = shape.key_rows + keys.begin;
    for (int64_t h = 0; h < shape.heads; ++h) {
      const VisibleKeys seen = {k.data + h * shape.width, k.row_stride, rows, keys.length, shape.width};
      float* scores = weights.data + row * weights.stride + h * shape.longest_keys;
      for (int64_t j = 0; j < keys.length; j += lanes)
        score_keys(q.data + row * q.row_stride + h * shape.width, seen, j, scores);
      weigh_last(shape, h, keys.length, scores, distances);
      fill(scores + keys.length, unused, 0);
    }
  });
}

void attention_weights(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                       Matrix weights) {
  if (shape.key_rows != nullptr) return weigh_cache(context, shape, q, k, weights);
  const int64_t floats = packed_size(shape.width, shape.longest_keys) + single_thread_block_size() +
                         most_distances(shape) + 3 * 16;
  for_each_task(context, shape.spans * shape.heads, [&](int64_t task, int worker) {
    const Head head = head_of_task(shape, task);
    const int64_t keys = head.keys.length, width = shape.width;
    Pieces memory(cpu(context).local(worker, static_cast<size_t>(floats) * sizeof(float)));
    float* packed_k = memory.take(packed_size(width, keys));
    float* block = memory.take(single_thread_block_size());
    const HeadBias bias = head_bias(shape, head, memory.take(most_distances(shape)));
    pack_single_thread(part_of(k, head.keys.begin, keys, head.index, width).transposed(), packed_k);
    for (int64_t first = 0; first < head.queries.length; first += query_tile) {
      const int64_t rows = smaller(query_tile, head.queries.length - first);
      Matrix tile = part_of(weights, head.queries.begin + first, rows, head.index, shape.longest_keys);
      tile.columns = keys;
      weigh(shape, head, bias, first, q, {packed_k, width, keys}, tile, nullptr, block);
      for (int64_t i = 0; i < rows; ++i)
        fill(tile.data + i * tile.stride + keys, shape.longest_keys - keys, 0);
    }
  });
}

// --- backward ---------------------------------------------------------------------------------------

inline float dot(const float* a, const float* b, int64_t n) {
  Vec total = {};
  for (int64_t i = 0; i < n; i += lanes)
    total = multiply_add(load_some(a + i, n - i), load_some(b + i, n - i), total);
  return sum(total);
}

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

// With a bias the gradient that softmax_row_backward leaves is the biased score's: it is added to that of the query's
// part of the head's bias, and scaled for the product.
inline void leave_bias(float* dp, int64_t visible, float scale, float* bias_gradient) {
  for (int64_t j = 0; j < visible; j += lanes) {
    const int64_t left = visible - j;
    const Vec gradient = load_some(dp + j, left);
    store_some(bias_gradient + j, load_some(bias_gradient + j, left) + gradient, left);
    store_some(dp + j, gradient * all(scale), left);
  }
}

struct AttentionGradients {
  ConstMatrix out, out_gradient;
  const float* log_sums;
  bool accumulate;
  Matrix q, k, v;
};

// bias_sums: the head's gradient of the distance bias in this span; null: not wanted.
inline void attend_backward(const AttentionShape& shape, const Head& head, ConstMatrix q, ConstMatrix k,
                            ConstMatrix v, const AttentionGradients& gradients, float* bias_sums,
                            Pieces memory) {
  const int64_t keys = head.keys.length, width = shape.width, h = head.index;
  const DropoutMask mask = dropout_mask(shape.dropout);
  float* k_columns = memory.take(packed_size(width, keys));
  float* v_columns = memory.take(packed_size(width, keys));
  float* k_rows = memory.take(packed_size(keys, width));
  float* tile_rows_packed = memory.take(packed_size(query_tile, width));
  float* block = memory.take(single_thread_block_size());
  float* scores = memory.take(query_tile * padded(keys));
  float* score_gradients = memory.take(query_tile * padded(keys));
  float* multipliers = memory.take(ceil_div(keys, dropout_block) * dropout_block);
  const HeadBias bias = head_bias(shape, head, memory.take(most_distances(shape)));
  float* bias_gradient = memory.take(most_distances(shape));
  fill(bias_gradient, most_distances(shape), 0);
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
    for (int64_t i = 0; i < rows; ++i) {
      const bool drops = shape.dropout.rate > 0;
      if (drops) {
        for (int64_t b = 0; b * dropout_block < keys; ++b) {
          dropout_multipliers(mask, shape.dropout.rows[row + i], static_cast<uint32_t>(h), b,
                              multipliers + b * dropout_block);
        }
      }
      const bool biased = bias.by_distance != nullptr;
      const SoftmaxBackward at = {
          .scale = biased ? 1 : shape.scale,
          .log_sum = gradients.log_sums[(row + i) * shape.heads + h],
          .delta = dot(out.data + i * out.row_stride, dout.data + i * dout.row_stride, width),
          .visible = head.visible(first + i, shape.causal),
          .keys = keys};
      float *p_row = scores + i * p.stride, *dp_row = score_gradients + i * dp.stride;
      const int64_t position = head.past + first + i;
      if (biased) add_bias(p_row, at.visible, shape.scale, bias.of(position));
      softmax_row_backward(at, drops ? multipliers : nullptr, p_row, dp_row);
      if (biased) leave_bias(dp_row, at.visible, shape.scale, bias_gradient + bias.last_position - position);
    }
    pack_single_thread(dout, tile_rows_packed);
    multiply_single_thread(ConstMatrix(p).transposed(), {tile_rows_packed, rows, width},
                           part_of(gradients.v, head.keys.begin, keys, h, width), later, block);
    pack_single_thread(my_q, tile_rows_packed);
    multiply_single_thread(ConstMatrix(dp).transposed(), {tile_rows_packed, rows, width},
                           part_of(gradients.k, head.keys.begin, keys, h, width), later, block);
    multiply_single_thread(dp, {k_rows, keys, width}, part_of(gradients.q, row, rows, h, width),
                           gradients.accumulate, block);
  }
  if (bias_sums == nullptr) return;
  const ConstMatrix biases = shape.distance_bias;
  fill(bias_sums, biases.rows, 0);
  for (int64_t j = 0; j < head.queries.length + keys - 1; ++j)
    bias_sums[row_of_distance(biases, j - bias.last_position)] += bias_gradient[j];
}

// gradient += the sums of each span and head, span after span.
inline void add_bias_sums(Context& context, const AttentionShape& shape, const float* sums, Matrix gradient) {
  for_each_task(context, shape.heads, [&](int64_t head, int) {
    for (int64_t span = 0; span < shape.spans; ++span) {
      const float* of_span = sums + (span * shape.heads + head) * gradient.rows;
      for (int64_t r = 0; r < gradient.rows; ++r) gradient.data[r * gradient.stride + head] += of_span[r];
    }
  });
}

void attention_backward(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                        ConstMatrix v, ConstMatrix out, ConstMatrix out_gradient, const float* log_sums,
                        bool accumulate, Matrix q_gradient, Matrix k_gradient, Matrix v_gradient,
                        Matrix distance_bias_gradient) {
  const int64_t keys = shape.longest_keys, width = shape.width;
  const AttentionGradients gradients = {out,        out_gradient, log_sums,  accumulate,
                                        q_gradient, k_gradient,   v_gradient};
  const int64_t floats = 2 * packed_size(width, keys) + packed_size(keys, width) +
                         packed_size(query_tile, width) + single_thread_block_size() +
                         2 * query_tile * padded(keys) + keys + dropout_block + 2 * most_distances(shape) +
                         10 * 16;
  const int64_t tasks = shape.spans * shape.heads, biases = shape.distance_bias.rows;
  float* bias_sums = nullptr;
  if (distance_bias_gradient.data != nullptr)
    bias_sums = static_cast<float*>(cpu(context).shared(static_cast<size_t>(tasks * biases) * sizeof(float)));
  for_each_task(context, tasks, [&](int64_t task, int worker) {
    void* memory = cpu(context).local(worker, static_cast<size_t>(floats) * sizeof(float));
    attend_backward(shape, head_of_task(shape, task), q, k, v, gradients,
                    bias_sums != nullptr ? bias_sums + task * biases : nullptr, Pieces(memory));
  });
  if (bias_sums != nullptr) add_bias_sums(context, shape, bias_sums, distance_bias_gradient);
}

}  // namespace
}  // namespace dragoman::internal
