// Attention over spans: softmax(scale · q·kᵀ)·v, head by head, and what distances add. A warp takes four queries
// through the tiles of keys, and keeps the largest score so far, the sum of exponentials and the weighted sum of
// values.
//
// This is attention in fp32: of decoding with weights that are not in bf16, of training in fp32 and tf32, and, whatever
// the precision, of heads with distances or rotary positions. Where q, k and v are in bf16 alone, attention() hands
// over to the tensor cores (attention_tensor.inl.h); ops/ gives it such only where attends_in_bf16() says so.
#pragma once

#include "kernels/cuda/attention_tensor.inl.h"
#include "kernels/cuda/attention_tiles.inl.h"
#include "kernels/cuda/functions.inl.h"
#include "kernels/cuda/loss.inl.h"

namespace dragoman::internal {
namespace {

struct AttentionOperands {
  AttentionShape shape;
  DropoutMask mask;
  AttentionGrid grid;
  ConstMatrix q, k, v;
};

// The scores of this warp's queries, from `first` on in the block, and this lane's key of the tile at `first_key`. The
// last chunk to come is `chunk`, whose columns of v, if any, are then in the second tile.
GPU_FUNCTION void score_tile(const AttentionOperands& o, const SpanHead& head, int64_t first,
                             int64_t first_key, int chunk, float (&scores)[own_of_warp]) {
  const AttentionShape& shape = o.shape;
  const TileRows q = tile_rows(o.q, head.queries, nullptr, head, shape.width),
                 k = tile_rows(o.k, head.keys, shape.key_rows, head, shape.width),
                 v = tile_rows(o.v, head.keys, shape.key_rows, head, shape.width);
  // A warp without queries and a lane without a key have nothing to add up.
  const bool idle =
      first + warp_index() * own_of_warp >= head.queries.length || first_key + lane() >= head.keys.length;
  for (float& score : scores) score = 0;
  for (int n = 1; n <= o.grid.chunks; ++n) {
    const int at = (chunk + n) % o.grid.chunks, columns = columns_of_chunk(shape.width, at);
    const int64_t column = static_cast<int64_t>(at) * chunk_columns;
    sync_block();  // all are done with the tiles before
    if (first_key == 0 || o.grid.chunks > 1)
      load_tile(q, first, own_rows(), column, columns, own_tile(0), chunk_columns);
    load_tile(k, first_key, tile_of_lanes, column, columns, other_tile(0), other_stride);
    if (n == o.grid.chunks && o.v.data != nullptr)
      load_tile(v, first_key, tile_of_lanes, column, columns, other_tile(1), other_stride);
    sync_block();
    if (idle) continue;
    add_products(own_tile(0), other_tile(0), columns, scores);
    add_own_products_by_distance(shape.distance_keys, own_tile(0), first_key + lane(), head.past + first,
                                 column, columns, scores);
  }
  for (int i = 0; i < own_of_warp; ++i)
    scores[i] = fmaf(scores[i], shape.scale,
                     bias_of_distance(shape, head, first_key + lane(),
                                      head.past + first + warp_index() * own_of_warp + i));
}

// A query's softmax so far.
struct SoftmaxSums {
  float top, total;
};

// Scores become e^(score − top), 0 where the key is masked. Returns what sums so far are multiplied by.
GPU_FUNCTION float add_scores(SoftmaxSums& sums, bool masked, float& score) {
  const float before = sums.top;
  sums.top = fmaxf(before, warp_max(masked ? lowest_float : score));
  score = masked ? 0 : expf(score - sums.top);
  const float correction = expf(before - sums.top);
  sums.total = fmaf(sums.total, correction, warp_sum(score));
  return correction;
}

// The keys that any query of a block's tile attends to.
GPU_FUNCTION int64_t last_visible(const AttentionShape& shape, const SpanHead& head, int64_t first) {
  const int64_t end = first + own_rows();
  return visible_keys(shape, head, (end < head.queries.length ? end : head.queries.length) - 1);
}

GPU_FUNCTION void attend(const AttentionOperands& o, const SpanHead& head, int64_t first, int chunk,
                         Matrix out, float* log_sums) {
  const AttentionShape& shape = o.shape;
  const int64_t own = first + warp_index() * own_of_warp, row = head.queries.begin + own;
  const int64_t column = static_cast<int64_t>(chunk) * chunk_columns;
  const int columns = columns_of_chunk(shape.width, chunk);
  SoftmaxSums sums[own_of_warp];
  for (SoftmaxSums& s : sums) s = {lowest_float, 0};
  float result[own_of_warp][halves] = {}, scores[own_of_warp];
  const int64_t keys = last_visible(shape, head, first);
  for (int64_t key = 0; key < keys; key += tile_of_lanes) {
    score_tile(o, head, first, key, chunk, scores);
    if (own >= head.queries.length) continue;
    float multipliers[own_of_warp];
    dropout_multipliers_of_tile(o.mask, row, head.queries.length - own, head.index, key, multipliers);
    for (int i = 0; i < own_of_warp; ++i) {
      const bool masked = key + lane() >= visible_keys(shape, head, own + i);
      const float correction = add_scores(sums[i], masked, scores[i]);
      scores[i] *= multipliers[i];
      for (float& x : result[i]) x *= correction;
    }
    store_pairs(scores, pair_tile(0));
    sync_warp();
    const int count = static_cast<int>(keys - key < tile_of_lanes ? keys - key : tile_of_lanes);
    add_weighted_rows(pair_tile(0), other_tile(1), count, columns, result);
    add_weighted_vectors(shape.distance_values, pair_tile(0), key, count, head.past + first, column, columns,
                         result);
  }
  for (int i = 0; i < own_of_warp && own + i < head.queries.length; ++i) {
    const float inverse = sums[i].total > 0 ? 1 / sums[i].total : 0;
    const int64_t place = (row + i) * out.stride + head.index * shape.width + column;
    for (int half = 0; half < halves; ++half) {
      const int c = half * warp_size + lane();
      if (c >= columns) continue;
      out.data[place + c] = result[i][half] * inverse;
      if (out.rounded != nullptr) out.rounded[place + c] = rounded_to_bf16(result[i][half] * inverse);
    }
    if (log_sums != nullptr && chunk == 0 && lane() == 0)
      log_sums[(row + i) * shape.heads + head.index] = sums[i].top + logf(sums[i].total);
  }
}

GPU_KERNEL attention_kernel(AttentionOperands o, Matrix out, float* log_sums) {
  const AttentionPart part = attention_part(o.grid);
  const SpanHead head = head_of(o.shape, part.task);
  for (int64_t first = part.part * own_rows(); first < head.queries.length;
       first += o.grid.parts * own_rows())
    attend(o, head, first, part.chunk, out, log_sums);
}

void attention(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k, ConstMatrix v,
               Matrix out, float* log_sums) {
  if (in_bf16(q)) return tensor_attention(context, shape, q, k, v, out, log_sums);
  const AttentionGrid grid = attention_grid(shape);
  launch(context, grid_of("attention", shape, grid), attention_kernel,
         AttentionOperands{shape, dropout_mask(shape.dropout), grid, q, k, v}, out, log_sums);
}

// --- attention weights ------------------------------------------------------------------------------

// The same scores twice: for the sums, and for the weights.
GPU_FUNCTION void weigh(const AttentionOperands& o, const SpanHead& head, int64_t first, Matrix weights) {
  const AttentionShape& shape = o.shape;
  const int64_t own = first + warp_index() * own_of_warp, row = head.queries.begin + own;
  SoftmaxSums sums[own_of_warp];
  for (SoftmaxSums& s : sums) s = {lowest_float, 0};
  float scores[own_of_warp];
  const int64_t keys = last_visible(shape, head, first);
  for (int64_t key = 0; key < keys; key += tile_of_lanes) {
    score_tile(o, head, first, key, 0, scores);
    if (own >= head.queries.length) continue;
    for (int i = 0; i < own_of_warp; ++i)
      add_scores(sums[i], key + lane() >= visible_keys(shape, head, own + i), scores[i]);
  }
  for (int64_t key = 0; key < shape.longest_keys; key += tile_of_lanes) {
    if (key < keys) score_tile(o, head, first, key, 0, scores);
    for (int i = 0; i < own_of_warp && own + i < head.queries.length; ++i) {
      const bool masked = key + lane() >= visible_keys(shape, head, own + i);
      if (key + lane() < shape.longest_keys)
        weights.data[(row + i) * weights.stride + head.index * shape.longest_keys + key + lane()] =
            masked ? 0 : expf(scores[i] - sums[i].top) / sums[i].total;
    }
  }
}

GPU_KERNEL attention_weights_kernel(AttentionOperands o, Matrix weights) {
  const AttentionPart part = attention_part(o.grid);
  if (part.chunk > 0) return;
  const SpanHead head = head_of(o.shape, part.task);
  for (int64_t first = part.part * own_rows(); first < head.queries.length;
       first += o.grid.parts * own_rows())
    weigh(o, head, first, weights);
}

void attention_weights(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                       Matrix weights) {
  const AttentionGrid grid = attention_grid(shape);
  launch(context, grid_of("attention_weights", shape, grid), attention_weights_kernel,
         AttentionOperands{shape, dropout_mask({}), grid, q, k, {}}, weights);
}

}  // namespace
}  // namespace dragoman::internal
