// Attention of heads whose q, k and v are in bf16 alone, by the tensor cores: what training in bf16 and decoding with
// weights in bf16 use, but where distances or rotary positions want floats (attention.inl.h). A warp takes a tile of 16
// queries through the keys, 64 at a time, with scores, weights and sums in registers: it needs neither shared memory
// nor barriers. What several tiles of a span read, the caches have.
#pragma once

#include "kernels/cuda/attention_tensor_tiles.inl.h"
#include "kernels/cuda/loss.inl.h"

namespace dragoman::internal {
namespace {

constexpr int tensor_forward_warps = 2;
constexpr float log2_e = 1.44269504f, log_2 = 0.69314718f;

// Of rows g and g + 8: of scores that count in powers of 2, the largest so far; this lane's sum of powers.
struct TensorSums {
  float top[2], total[2];
};

// The products of queries and keys; of the tiles of eight keys, those with a key that a query sees.
template <int width, class Rows>
GPU_FUNCTION void tile_scores(const OwnRows<width>& queries, const Rows& keys, int first, int count,
                              float (&scores)[8][4]) {
  constexpr int at_once = 256 / width;  // as many as there are registers for
#pragma unroll
  for (int j = 0; j < 8; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) scores[j][i] = 0;
#pragma unroll
  for (int j = 0; j < 8; j += at_once)
    if (8 * j < count) add_row_products<width, at_once>(queries, keys, first + 8 * j, scores + j);
}

// Scores become 2^(scale · score − top), 0 where the key is masked. `visible`: of these 64 keys, for rows g and g + 8.
// Returns in `corrections` what sums so far are multiplied by.
GPU_FUNCTION void add_tile_scores(TensorSums& sums, const int (&visible)[2], int count, float scale,
                                  float (&scores)[8][4], float (&corrections)[2]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float top = lowest_float;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (j / 2 * tensor_rows >= count) continue;  // no query of the tile has weights there
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (8 * j + 2 * lane_pair() + e < visible[i]) top = fmaxf(top, scores[j][2 * i + e]);
    }
    top = fmaxf(top, shuffle_xor(top, 1));
    top = fmaxf(sums.top[i], fmaxf(top, shuffle_xor(top, 2)) * scale);
    corrections[i] = power_of_2(sums.top[i] - top);
    float total = sums.total[i] * corrections[i];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (j / 2 * tensor_rows >= count) continue;
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float& score = scores[j][2 * i + e];
        score = 8 * j + 2 * lane_pair() + e < visible[i] ? power_of_2(fmaf(score, scale, -top)) : 0;
        total += score;
      }
    }
    sums.top[i] = top;
    sums.total[i] = total;
  }
}

// Weights of dropped keys become 0; those of others are still to be multiplied by the scale.
GPU_FUNCTION void drop_weights(const DropoutMask& mask, const SpanHead& head, int query, int first_key,
                               int count, int i, float (&weights)[8][4]) {
  const KeyDraws draws = key_draws(mask, head, query, first_key);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    if (j / 2 * tensor_rows >= count) continue;
#pragma unroll
    for (int e = 0; e < 2; ++e)
      if (!keeps(mask, draws, j, e)) weights[j][2 * i + e] = 0;
  }
}

// Tiles of eight keys, two of them side by side, as the left operand of a product.
GPU_FUNCTION FourWords left_operand(const float (&left)[4], const float (&right)[4]) {
  return {{bf16_pair(left[0], left[1]), bf16_pair(left[2], left[3]), bf16_pair(right[0], right[1]),
           bf16_pair(right[2], right[3])}};
}

// Writes the log-sums, and returns in `multipliers` what the rows' sums are multiplied by.
GPU_FUNCTION void finish_sums(const TensorAttention& o, const SpanHead& head, int first,
                              const TensorSums& sums, float* log_sums, float (&multipliers)[2]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float total = sums.total[i];
    total += shuffle_xor(total, 1);
    total += shuffle_xor(total, 2);
    const float scale = o.mask.drops ? o.mask.scale : 1;
    multipliers[i] = total > 0 ? scale / total : 0;
    const int query = first + lane_row() + 8 * i;
    if (log_sums != nullptr && lane_pair() == 0 && query < head.queries.length)
      log_sums[(head.queries.begin + query) * o.shape.heads + head.index] =
          (sums.top[i] + log2f(total)) * log_2;
  }
}

template <int width, class Rows>
GPU_FUNCTION void attend_tile(const TensorAttention& o, const SpanHead& head, const Rows& k, const Rows& v,
                              int first, const Matrix& out, float* log_sums) {
  const AttentionShape& shape = o.shape;
  const OwnRows<width> queries = own_rows_of<width>(head_rows(o.q, head.queries, head, shape.width), first);
  const int query = first + lane_row(), keys = visible_to_tile(shape, head, first);
  const int visible[2] = {visible_to(shape, head, query), visible_to(shape, head, query + 8)};
  TensorSums sums = {{lowest_float, lowest_float}, {0, 0}};
  TileSums<width> result = {};
  for (int key = 0; key < keys; key += tensor_keys) {
    float scores[8][4], corrections[2];
    tile_scores<width>(queries, k, key, keys - key, scores);
    const int visible_here[2] = {visible[0] - key, visible[1] - key};
    add_tile_scores(sums, visible_here, keys - key, shape.scale * log2_e, scores, corrections);
    if (o.mask.drops) {
      drop_weights(o.mask, head, query, key, keys - key, 0, scores);
      drop_weights(o.mask, head, query + 8, key, keys - key, 1, scores);
    }
    if (key > 0)
#pragma unroll
      for (int j = 0; j < width / 8; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i) result[j][i] *= corrections[i / 2];
#pragma unroll
    for (int n = 0; n < key_tiles; ++n)
      if (tensor_rows * n < keys - key)
        add_weighted_tile<width>(left_operand(scores[2 * n], scores[2 * n + 1]), v, key + tensor_rows * n,
                                 result);
  }
  float multipliers[2];
  finish_sums(o, head, first, sums, log_sums, multipliers);
  store_tile<width>(out, head.queries, head, shape.width, first, false, multipliers, result);
}

template <int width>
GPU_KERNEL tensor_attention_kernel(TensorAttention o, Matrix out, float* log_sums) {
  const uint32_t block = static_cast<uint32_t>(block_index()), parts = static_cast<uint32_t>(o.parts);
  const SpanHead head = tensor_head_of(o.shape, block / parts);
  const int part = static_cast<int>(block % parts) * tensor_forward_warps + uniform_warp_index();
  for (int first = part * tensor_rows; first < head.queries.length;
       first += o.parts * tensor_forward_warps * tensor_rows)
    attend_tile<width>(o, head, head_rows(o.k, head.keys, head, o.shape.width),
                       head_rows(o.v, head.keys, head, o.shape.width), first, out, log_sums);
}

// A step of decoding: a warp has one query of a span, in a tile by itself, so that a row has the bits that it has among
// others. What it costs is reading keys and values.
template <int width>
GPU_KERNEL listed_attention_kernel(TensorAttention o, Matrix out) {
  const AttentionShape& shape = o.shape;
  const SpanHead head = tensor_head_of(shape, block_index());
  attend_tile<width>(o, head, listed_rows(o.k, shape.key_rows, head.keys, head, shape.width),
                     listed_rows(o.v, shape.key_rows, head.keys, head, shape.width), 0, out, nullptr);
}

// As many as fill a GPU, where spans are few and long.
inline int tensor_parts(const AttentionShape& shape, int64_t rows_of_part) {
  constexpr int64_t enough_blocks = 4096;
  const int64_t heads = shape.spans * shape.heads, most = ceil_div(shape.longest_keys, rows_of_part);
  const int64_t wanted = heads > 0 ? ceil_div(enough_blocks, heads) : 1;
  return static_cast<int>(most < 1 ? 1 : wanted < most ? wanted : most);
}

inline void listed_attention(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                             ConstMatrix v, Matrix out) {
  launch(context, {"listed_attention", shape.spans * shape.heads, warp_size},
         shape.width <= 64 ? listed_attention_kernel<64> : listed_attention_kernel<128>,
         TensorAttention{shape, dropout_mask(shape.dropout), 1, q, k, v}, out);
}

inline void tensor_attention(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                             ConstMatrix v, Matrix out, float* log_sums) {
  if (shape.key_rows != nullptr) return listed_attention(context, shape, q, k, v, out);
  const int parts = tensor_parts(shape, tensor_forward_warps * tensor_rows);
  const TensorAttention operands = {shape, dropout_mask(shape.dropout), parts, q, k, v};
  launch(context, {"tensor_attention", shape.spans * shape.heads * parts, tensor_forward_warps * warp_size},
         shape.width <= 64 ? tensor_attention_kernel<64> : tensor_attention_kernel<128>, operands, out,
         log_sums);
}

}  // namespace
}  // namespace dragoman::internal
