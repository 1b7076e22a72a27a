// The backward of attention of heads in bf16, by the tensor cores. A block makes the pairs of up to 64 queries and 64
// keys: each warp takes tiles of 16 queries, and leaves the pairs' weights and the gradients of their scores in shared
// memory, turned, so that rows are keys. Then each warp adds up tiles of gradients: of 16 keys, or of 16 queries, for
// which it turns the operand back. A span of no more than 64 queries and keys has its pairs made once; a longer one, by
// another kernel, for each block of its gradients.
#pragma once

#include "kernels/cuda/attention_tensor.inl.h"
#include "kernels/cuda/products.inl.h"

namespace dragoman::internal {
namespace {

constexpr int short_span_warps = 2, long_span_warps = 2 * key_tiles;
constexpr int short_span = tensor_keys, long_block = long_span_warps * tensor_rows;  // queries
constexpr int spans_of_block = 8;  // where few of them are long

// Of the pairs of these queries with 64 keys.
constexpr size_t pair_bytes(int queries) {
  return static_cast<size_t>(queries / tensor_rows * key_tiles * 2 * warp_size) * sizeof(FourWords);
}

struct TensorBackward {
  TensorAttention forward;
  ConstMatrix out, out_gradient;
  const float* log_sums;
  bool accumulate;
  Matrix q_gradient, k_gradient, v_gradient;
};

enum class Pairs { weights, scores };  // P∘D, and the gradients of the scores

// A tile of pairs in shared memory, the words of all lanes. Queries and keys are counted in tiles.
GPU_FUNCTION int pair_place(Pairs pairs, int query_tile, int key_tile) {
  return ((query_tile * key_tiles + key_tile) * 2 + (pairs == Pairs::weights ? 0 : 1)) * warp_size + lane();
}

// Whether a query of the tile attends to a key of the tile.
GPU_FUNCTION bool tiles_meet(const AttentionShape& shape, const SpanHead& head, int first_query,
                             int first_key) {
  return first_query < head.queries.length && first_key < head.keys.length &&
         first_key < visible_to_tile(shape, head, first_query);
}

GPU_FUNCTION FourWords turned(const FourWords& x) {
  return {{transpose(x.x[0]), transpose(x.x[2]), transpose(x.x[1]), transpose(x.x[3])}};
}

// --- pairs ------------------------------------------------------------------------------------------

// Of rows g and g + 8 of a tile of queries: what all their pairs need.
struct QueryRows {
  int visible[2];
  float log_sums[2], deltas[2];  // in powers of 2; out · its gradient
  uint32_t kept;                 // a bit for each of this lane's 32 pairs with 64 keys
};

// Of row g, or g + 8, Σ out · its gradient over the head's columns: the same in all four lanes of a row.
template <int width>
GPU_FUNCTION float delta_of(const OwnRows<width>& out, const OwnRows<width>& gradients, int i) {
  float sum = 0;
#pragma unroll
  for (int c = 0; c < width / 16; ++c)
#pragma unroll
    for (int n = i; n < 4; n += 2) {
      sum = fmaf(low_half(out.parts[c].x[n]), low_half(gradients.parts[c].x[n]), sum);
      sum = fmaf(high_half(out.parts[c].x[n]), high_half(gradients.parts[c].x[n]), sum);
    }
  sum += shuffle_xor(sum, 1);
  return sum + shuffle_xor(sum, 2);
}

// Bits in the order of the tiles of 16 keys, in each of them rows, tiles of eight keys, keys.
GPU_FUNCTION uint32_t kept_pairs(const DropoutMask& mask, const SpanHead& head, int query, int first_key) {
  if (!mask.drops) return 0xffffffffu;
  uint32_t kept = 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const KeyDraws draws = key_draws(mask, head, query + 8 * i, first_key);
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (keeps(mask, draws, j, e)) kept |= 1u << (j / 2 * 8 + i * 4 + j % 2 * 2 + e);
  }
  return kept;
}

template <int width>
GPU_FUNCTION QueryRows query_rows(const TensorBackward& o, const SpanHead& head, int first, int first_key,
                                  const OwnRows<width>& gradients) {
  const AttentionShape& shape = o.forward.shape;
  const OwnRows<width> out = own_rows_of<width>(head_rows(o.out, head.queries, head, shape.width), first);
  QueryRows rows;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int query = first + lane_row() + 8 * i;
    const int64_t place = (head.queries.begin + query) * shape.heads + head.index;
    rows.visible[i] = visible_to(shape, head, query);
    rows.log_sums[i] = query < head.queries.length ? o.log_sums[place] * log2_e : 0;
    rows.deltas[i] = delta_of<width>(out, gradients, i);
  }
  rows.kept = kept_pairs(o.forward.mask, head, first + lane_row(), first_key);
  return rows;
}

// With P the probabilities and D dropout's multipliers: scores become P∘D, and the gradients of weights become those of
// scores, P∘(dP∘D − Σ dP∘D∘P). `bits`: of the pairs that are kept.
GPU_FUNCTION void pair_gradients(const TensorBackward& o, const QueryRows& rows, uint32_t bits, int first_key,
                                 float (&scores)[2][4], float (&gradients)[2][4]) {
  const float scale = o.forward.shape.scale * log2_e;
  const float kept_scale = o.forward.mask.drops ? o.forward.mask.scale : 1;
#pragma unroll
  for (int j = 0; j < 2; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int i = e / 2, key = first_key + 8 * j + 2 * lane_pair() + e % 2;
      const float multiplier = (bits >> (i * 4 + j * 2 + e % 2) & 1) != 0 ? kept_scale : 0;
      const float p = key < rows.visible[i] ? power_of_2(fmaf(scores[j][e], scale, -rows.log_sums[i])) : 0;
      gradients[j][e] = p * (gradients[j][e] * multiplier - rows.deltas[i]);
      scores[j][e] = p * multiplier;
    }
}

// The pairs of so many queries and of 64 keys, from these on. Each warp makes every n-th tile of queries.
template <int width, int queries_at_once>
GPU_FUNCTION void make_pairs(const TensorBackward& o, const SpanHead& head, int first_query, int first_key) {
  const AttentionShape& shape = o.forward.shape;
  const Shared<FourWords> pairs = shared<FourWords>(0);
  const HeadRows q = head_rows(o.forward.q, head.queries, head, shape.width),
                 dout = head_rows(o.out_gradient, head.queries, head, shape.width),
                 k = head_rows(o.forward.k, head.keys, head, shape.width),
                 v = head_rows(o.forward.v, head.keys, head, shape.width);
  for (int m = uniform_warp_index(); m < queries_at_once / tensor_rows; m += block_warps()) {
    const int query = first_query + tensor_rows * m;
    if (!tiles_meet(shape, head, query, first_key)) continue;
    const OwnRows<width> queries = own_rows_of<width>(q, query), gradients = own_rows_of<width>(dout, query);
    const QueryRows rows = query_rows<width>(o, head, query, first_key, gradients);
#pragma unroll 1
    for (int n = 0; n < key_tiles; ++n) {
      const int key = first_key + tensor_rows * n;
      if (!tiles_meet(shape, head, query, key)) break;
      float scores[2][4] = {}, weight_gradients[2][4] = {};
      add_row_products<width, 2>(queries, k, key, scores);
      add_row_products<width, 2>(gradients, v, key, weight_gradients);
      pair_gradients(o, rows, rows.kept >> (8 * n), key, scores, weight_gradients);
      pairs[pair_place(Pairs::weights, m, n)] = turned(left_operand(scores[0], scores[1]));
      pairs[pair_place(Pairs::scores, m, n)] = turned(left_operand(weight_gradients[0], weight_gradients[1]));
    }
  }
}

// --- gradients --------------------------------------------------------------------------------------

// sums += what these queries add to the gradient of the n-th tile of keys: of their values by weights and the gradient
// of the output, of the keys by scores and queries.
template <int width, int queries_at_once>
GPU_FUNCTION void add_to_keys(const TensorBackward& o, const SpanHead& head, Pairs kind, int first_query,
                              int first_key, int n, TileSums<width>& sums) {
  const AttentionShape& shape = o.forward.shape;
  const Shared<FourWords> pairs = shared<FourWords>(0);
  const HeadRows rows =
      head_rows(kind == Pairs::weights ? o.out_gradient : o.forward.q, head.queries, head, shape.width);
#pragma unroll 1
  for (int m = 0; m < queries_at_once / tensor_rows; ++m) {
    const int query = first_query + tensor_rows * m;
    if (!tiles_meet(shape, head, query, first_key + tensor_rows * n)) continue;
    const FourWords weights = pairs[pair_place(kind, m, n)];
    add_weighted_tile<width>(weights, rows, query, sums);
  }
}

// sums += what these keys add to the gradient of the m-th tile of queries.
template <int width>
GPU_FUNCTION void add_to_queries(const TensorBackward& o, const SpanHead& head, int first_query, int m,
                                 int first_key, TileSums<width>& sums) {
  const AttentionShape& shape = o.forward.shape;
  const Shared<FourWords> pairs = shared<FourWords>(0);
  const HeadRows rows = head_rows(o.forward.k, head.keys, head, shape.width);
#pragma unroll 1
  for (int n = 0; n < key_tiles; ++n) {
    const int key = first_key + tensor_rows * n;
    if (!tiles_meet(shape, head, first_query + tensor_rows * m, key)) break;
    const FourWords weights = pairs[pair_place(Pairs::scores, m, n)];
    add_weighted_tile<width>(turned(weights), rows, key, sums);
  }
}

template <int width>
GPU_FUNCTION void store_keys(const TensorBackward& o, const SpanHead& head, Pairs kind, int first,
                             const TileSums<width>& sums) {
  const float by = kind == Pairs::weights ? 1 : o.forward.shape.scale, multipliers[2] = {by, by};
  store_tile<width>(kind == Pairs::weights ? o.v_gradient : o.k_gradient, head.keys, head,
                    o.forward.shape.width, first, o.accumulate, multipliers, sums);
}

template <int width>
GPU_FUNCTION void store_queries(const TensorBackward& o, const SpanHead& head, int first,
                                const TileSums<width>& sums) {
  const float by = o.forward.shape.scale, multipliers[2] = {by, by};
  store_tile<width>(o.q_gradient, head.queries, head, o.forward.shape.width, first, o.accumulate, multipliers,
                    sums);
}

GPU_FUNCTION bool is_short(const SpanHead& head) {
  return head.queries.length <= short_span && head.keys.length <= tensor_keys;
}
GPU_FUNCTION int tiles_of(const Span& span, int rows) { return (span.length + rows - 1) / rows; }

template <int width>
GPU_KERNEL short_spans_gradients_kernel(TensorBackward o) {
  const SpanHead head = tensor_head_of(o.forward.shape, block_index());
  if (!is_short(head)) return;
  make_pairs<width, short_span>(o, head, 0, 0);
  sync_block();
  const int of_keys = tiles_of(head.keys, tensor_rows),
            all = 2 * of_keys + tiles_of(head.queries, tensor_rows);
#pragma unroll 1
  for (int tile = uniform_warp_index(); tile < all; tile += short_span_warps) {
    TileSums<width> sums = {};
    if (tile < 2 * of_keys) {
      const Pairs kind = tile % 2 == 0 ? Pairs::weights : Pairs::scores;
      add_to_keys<width, short_span>(o, head, kind, 0, 0, tile / 2, sums);
      store_keys<width>(o, head, kind, tensor_rows * (tile / 2), sums);
    } else {
      const int m = tile - 2 * of_keys;
      add_to_queries<width>(o, head, 0, m, 0, sums);
      store_queries<width>(o, head, tensor_rows * m, sums);
    }
  }
}

// --- longer spans -----------------------------------------------------------------------------------

// A warp has a tile of 128 queries, and a tile of 64 keys for one of their two gradients.
GPU_FUNCTION Pairs kind_of_warp(int warp) { return warp % 2 == 0 ? Pairs::weights : Pairs::scores; }

// Up to 128 queries: all gradients, and pairs are made once.
template <int width>
GPU_FUNCTION void gradients_of_few_queries(const TensorBackward& o, const SpanHead& head, int warp) {
  TileSums<width> of_queries = {};
#pragma unroll 1
  for (int key = 0; key < head.keys.length; key += tensor_keys) {
    sync_block();  // all are done with the pairs before
    make_pairs<width, long_block>(o, head, 0, key);
    sync_block();
    add_to_queries<width>(o, head, 0, warp, key, of_queries);
    TileSums<width> of_keys = {};
    add_to_keys<width, long_block>(o, head, kind_of_warp(warp), 0, key, warp / 2, of_keys);
    store_keys<width>(o, head, kind_of_warp(warp), key + tensor_rows * (warp / 2), of_keys);
  }
  store_queries<width>(o, head, tensor_rows * warp, of_queries);
}

// More queries: the gradients of 64 keys.
template <int width>
GPU_FUNCTION void long_span_keys(const TensorBackward& o, const SpanHead& head, int warp, int first) {
  TileSums<width> sums = {};
#pragma unroll 1
  for (int query = 0; query < head.queries.length; query += long_block) {
    sync_block();
    make_pairs<width, long_block>(o, head, query, first);
    sync_block();
    add_to_keys<width, long_block>(o, head, kind_of_warp(warp), query, first, warp / 2, sums);
  }
  store_keys<width>(o, head, kind_of_warp(warp), first + tensor_rows * (warp / 2), sums);
}

// And those of 128 queries.
template <int width>
GPU_FUNCTION void long_span_queries(const TensorBackward& o, const SpanHead& head, int warp, int first) {
  TileSums<width> sums = {};
#pragma unroll 1
  for (int key = 0; key < head.keys.length; key += tensor_keys) {
    sync_block();
    make_pairs<width, long_block>(o, head, first, key);
    sync_block();
    add_to_queries<width>(o, head, first, warp, key, sums);
  }
  store_queries<width>(o, head, first + tensor_rows * warp, sums);
}

template <int width>
GPU_FUNCTION void long_span_gradients(const TensorBackward& o, const SpanHead& head, int part) {
  const int warp = uniform_warp_index();
  if constexpr (width <= 64) {  // there are registers for both kinds of sums
    if (head.queries.length <= long_block) {
      if (part == 0) gradients_of_few_queries<width>(o, head, warp);
      return;
    }
  }
  const int of_keys = tiles_of(head.keys, tensor_keys), all = of_keys + tiles_of(head.queries, long_block);
#pragma unroll 1
  for (int n = part; n < all; n += o.forward.parts) {
    if (n < of_keys)
      long_span_keys<width>(o, head, warp, n * tensor_keys);
    else
      long_span_queries<width>(o, head, warp, (n - of_keys) * long_block);
  }
}

// A block looks for the long ones among some spans, which are far apart: neighbours may be of one length.
// spills: on compute capability 8.0 alone, most of it outside the inner loops; else half as many blocks would fit
template <int width>
GPU_KERNEL_OF(long_span_warps* warp_size, width <= 64 ? 2 : 1)
long_spans_gradients_kernel(TensorBackward o, int strides) {
  const AttentionShape& shape = o.forward.shape;
  const uint32_t block = static_cast<uint32_t>(block_index()), parts = static_cast<uint32_t>(o.forward.parts),
                 heads = static_cast<uint32_t>(shape.heads), task = block / parts;
  const int64_t first = task / heads, mine = first + int64_t{lane() % spans_of_block} * strides;
  int is_long = 0;
  if (mine < shape.spans)
    is_long = shape.queries[mine].length > short_span || shape.keys[mine].length > tensor_keys ? 1 : 0;
#pragma unroll 1
  for (int n = 0; n < spans_of_block; ++n) {
    if (shuffle(is_long, n) == 0) continue;
    const uint32_t span = static_cast<uint32_t>(first + int64_t{n} * strides);
    long_span_gradients<width>(o, tensor_head_of(shape, span * heads + task % heads),
                               static_cast<int>(block % parts));
  }
}

// --- both -------------------------------------------------------------------------------------------

// The matrix with its numbers in bf16: those that it has, or a copy in this memory.
inline ConstMatrix with_rounded(Context& context, ConstMatrix m, float* memory) {
  if (m.rounded != nullptr) return m;
  ConstMatrix rounded = m;
  rounded.rounded = reinterpret_cast<Bf16*>(memory);
  rounded.row_stride = row_elements(m.columns);
  copy_operand(context, m, reinterpret_cast<Bf16*>(memory));
  return rounded;
}

template <int width>
void launch_tensor_backward(Context& context, const TensorBackward& operands) {
  const AttentionShape& shape = operands.forward.shape;
  launch(context,
         {"short_spans_gradients", shape.spans * shape.heads, short_span_warps * warp_size,
          pair_bytes(short_span)},
         short_spans_gradients_kernel<width>, operands);
  const int64_t strides = ceil_div(shape.spans, spans_of_block);
  launch(context,
         {"long_spans_gradients", strides * shape.heads * operands.forward.parts, long_span_warps * warp_size,
          pair_bytes(long_block)},
         long_spans_gradients_kernel<width>, operands, static_cast<int>(strides));
}

inline void tensor_attention_backward(Context& context, const AttentionShape& shape, ConstMatrix q,
                                      ConstMatrix k, ConstMatrix v, ConstMatrix out, ConstMatrix out_gradient,
                                      const float* log_sums, bool accumulate, Matrix q_gradient,
                                      Matrix k_gradient, Matrix v_gradient) {
  const int64_t of_out = rounded_floats(out), floats = of_out + rounded_floats(out_gradient);
  float* memory = floats > 0 ? float_workspace(context, floats) : nullptr;
  const TensorBackward operands = {
      {shape, dropout_mask(shape.dropout), tensor_parts(shape, long_block), q, k, v},
      with_rounded(context, out, memory),
      with_rounded(context, out_gradient, memory + of_out),
      log_sums,
      accumulate,
      q_gradient,
      k_gradient,
      v_gradient};
  if (shape.width <= 64)
    launch_tensor_backward<64>(context, operands);
  else
    launch_tensor_backward<128>(context, operands);
}

}  // namespace
}  // namespace dragoman::internal
