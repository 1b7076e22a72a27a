// The backward of attention, in two passes without sums over blocks: queries meet the tiles of keys for the gradient of
// q; keys meet the tiles of queries for those of k and v. Probabilities come from log Σ exp. The gradients of what
// distances add: attention_distances.inl.h.
#pragma once

#include "kernels/cuda/attention.inl.h"

namespace dragoman::internal {
namespace {

struct AttentionBackward {
  AttentionOperands forward;
  ConstMatrix out_gradient;
  const float *log_sums, *deltas;  // deltas: of each query row and head, out · its gradient
  bool accumulate;
};

// With P the probabilities and D dropout's multipliers: P∘D, and the gradient of the scores, P∘(dP∘D − Σ dP∘D∘P).
struct PairGradients {
  float weight, score;
};

GPU_FUNCTION PairGradients pair_gradients(const AttentionBackward& o, const SpanHead& head, int64_t query,
                                          int64_t key, float score, float multiplier, float weight_gradient) {
  if (key >= visible_keys(o.forward.shape, head, query)) return {0, 0};
  const int64_t row = head.queries.begin + query, place = row * o.forward.shape.heads + head.index;
  const float p = expf(score - o.log_sums[place]);
  return {p * multiplier, p * (weight_gradient * multiplier - o.deltas[place])};
}

// Writes this warp's own rows of a gradient, or adds to them.
GPU_FUNCTION void store_gradient(const Matrix& gradient, const SpanHead& head, const Span& span, int64_t own,
                                 int64_t width, int chunk, bool accumulate,
                                 const float (&values)[own_of_warp][halves]) {
  const int columns = columns_of_chunk(width, chunk);
  for (int i = 0; i < own_of_warp && own + i < span.length; ++i) {
    float* to = gradient.data + (span.begin + own + i) * gradient.stride + head.index * width +
                static_cast<int64_t>(chunk) * chunk_columns;
    for (int half = 0; half < halves; ++half)
      if (const int c = half * warp_size + lane(); c < columns)
        to[c] = accumulate ? to[c] + values[i][half] : values[i][half];
  }
}

// --- queries meet keys ------------------------------------------------------------------------------

// The gradients of this warp's queries' pairs with this lane's key. Afterwards the last chunk to have come is `chunk`.
GPU_FUNCTION void query_pairs(const AttentionBackward& o, const SpanHead& head, int64_t first,
                              int64_t first_key, int chunk, PairGradients (&pairs)[own_of_warp]) {
  const AttentionOperands& f = o.forward;
  const AttentionShape& shape = f.shape;
  const TileRows q = tile_rows(f.q, head.queries, nullptr, head, shape.width),
                 dout = tile_rows(o.out_gradient, head.queries, nullptr, head, shape.width),
                 k = tile_rows(f.k, head.keys, nullptr, head, shape.width),
                 v = tile_rows(f.v, head.keys, nullptr, head, shape.width);
  float scores[own_of_warp] = {}, weight_gradients[own_of_warp] = {};
  const int64_t key = first_key + lane(), position = head.past + first;
  const bool idle = first + warp_index() * own_of_warp >= head.queries.length || key >= head.keys.length;
  for (int n = 1; n <= f.grid.chunks; ++n) {
    const int at = (chunk + n) % f.grid.chunks, columns = columns_of_chunk(shape.width, at);
    const int64_t column = static_cast<int64_t>(at) * chunk_columns;
    sync_block();
    if (first_key == 0 || f.grid.chunks > 1) {
      load_tile(q, first, own_rows(), column, columns, own_tile(0), chunk_columns);
      load_tile(dout, first, own_rows(), column, columns, own_tile(1), chunk_columns);
    }
    load_tile(k, first_key, tile_of_lanes, column, columns, other_tile(0), other_stride);
    load_tile(v, first_key, tile_of_lanes, column, columns, other_tile(1), other_stride);
    sync_block();
    if (idle) continue;
    add_products(own_tile(0), other_tile(0), columns, scores);
    add_products(own_tile(1), other_tile(1), columns, weight_gradients);
    add_own_products_by_distance(shape.distance_keys, own_tile(0), key, position, column, columns, scores);
    add_own_products_by_distance(shape.distance_values, own_tile(1), key, position, column, columns,
                                 weight_gradients);
  }
  const int64_t own = first + warp_index() * own_of_warp;
  for (PairGradients& pair : pairs) pair = {0, 0};
  if (own >= head.queries.length) return;
  float multipliers[own_of_warp];
  dropout_multipliers_of_tile(f.mask, head.queries.begin + own, head.queries.length - own, head.index,
                              first_key, multipliers);
  for (int i = 0; i < own_of_warp; ++i) {
    const float score = fmaf(scores[i], shape.scale, bias_of_distance(shape, head, key, head.past + own + i));
    pairs[i] = pair_gradients(o, head, own + i, key, score, multipliers[i], weight_gradients[i]);
  }
}

GPU_FUNCTION void query_gradient(const AttentionBackward& o, const SpanHead& head, int64_t first, int chunk,
                                 Matrix gradient) {
  const AttentionShape& shape = o.forward.shape;
  float sums[own_of_warp][halves] = {};
  const int64_t keys = last_visible(shape, head, first), own = first + warp_index() * own_of_warp;
  const int64_t column = static_cast<int64_t>(chunk) * chunk_columns;
  const int columns = columns_of_chunk(shape.width, chunk);
  for (int64_t key = 0; key < keys; key += tile_of_lanes) {
    PairGradients pairs[own_of_warp];
    query_pairs(o, head, first, key, chunk, pairs);
    if (own >= head.queries.length) continue;
    float scores[own_of_warp];
    for (int i = 0; i < own_of_warp; ++i) scores[i] = pairs[i].score * shape.scale;
    store_pairs(scores, pair_tile(0));
    sync_warp();
    const int count = static_cast<int>(keys - key < tile_of_lanes ? keys - key : tile_of_lanes);
    add_weighted_rows(pair_tile(0), other_tile(0), count, columns, sums);
    add_weighted_vectors(shape.distance_keys, pair_tile(0), key, count, head.past + first, column, columns,
                         sums);
  }
  store_gradient(gradient, head, head.queries, own, shape.width, chunk, o.accumulate, sums);
}

GPU_KERNEL query_gradient_kernel(AttentionBackward o, Matrix gradient) {
  const AttentionGrid& grid = o.forward.grid;
  const AttentionPart part = attention_part(grid);
  const SpanHead head = head_of(o.forward.shape, part.task);
  for (int64_t first = part.part * own_rows(); first < head.queries.length; first += grid.parts * own_rows())
    query_gradient(o, head, first, part.chunk, gradient);
}

// --- keys meet queries ------------------------------------------------------------------------------

GPU_FUNCTION void key_pairs(const AttentionBackward& o, const SpanHead& head, int64_t first,
                            int64_t first_query, int chunk, PairGradients (&pairs)[own_of_warp]) {
  const AttentionOperands& f = o.forward;
  const AttentionShape& shape = f.shape;
  const TileRows q = tile_rows(f.q, head.queries, nullptr, head, shape.width),
                 dout = tile_rows(o.out_gradient, head.queries, nullptr, head, shape.width),
                 k = tile_rows(f.k, head.keys, nullptr, head, shape.width),
                 v = tile_rows(f.v, head.keys, nullptr, head, shape.width);
  float scores[own_of_warp] = {}, weight_gradients[own_of_warp] = {};
  const int64_t query = first_query + lane(), position = head.past + query;
  const bool idle = first + warp_index() * own_of_warp >= head.keys.length || query >= head.queries.length;
  for (int n = 1; n <= f.grid.chunks; ++n) {
    const int at = (chunk + n) % f.grid.chunks, columns = columns_of_chunk(shape.width, at);
    const int64_t column = static_cast<int64_t>(at) * chunk_columns;
    sync_block();
    load_tile(k, first, own_rows(), column, columns, own_tile(0), chunk_columns);
    load_tile(v, first, own_rows(), column, columns, own_tile(1), chunk_columns);
    load_tile(q, first_query, tile_of_lanes, column, columns, other_tile(0), other_stride);
    load_tile(dout, first_query, tile_of_lanes, column, columns, other_tile(1), other_stride);
    sync_block();
    if (idle) continue;
    add_products(own_tile(0), other_tile(0), columns, scores);
    add_products(own_tile(1), other_tile(1), columns, weight_gradients);
    add_other_products_by_distance(shape.distance_keys, other_tile(0), first, position, column, columns,
                                   scores);
    add_other_products_by_distance(shape.distance_values, other_tile(1), first, position, column, columns,
                                   weight_gradients);
  }
  const int64_t own = first + warp_index() * own_of_warp;
  for (PairGradients& pair : pairs) pair = {0, 0};
  if (idle) return;
  float multipliers[own_of_warp];
  dropout_multipliers_of_four(f.mask, head.queries.begin + query, head.index, own, multipliers);
  for (int i = 0; i < own_of_warp; ++i) {
    const float score = fmaf(scores[i], shape.scale, bias_of_distance(shape, head, own + i, position));
    pairs[i] = pair_gradients(o, head, query, own + i, score, multipliers[i], weight_gradients[i]);
  }
}

GPU_FUNCTION void key_gradients(const AttentionBackward& o, const SpanHead& head, int64_t first, int chunk,
                                Matrix k_gradient, Matrix v_gradient) {
  const AttentionShape& shape = o.forward.shape;
  const int64_t own = first + warp_index() * own_of_warp;
  const int columns = columns_of_chunk(shape.width, chunk);
  float k_sums[own_of_warp][halves] = {}, v_sums[own_of_warp][halves] = {};
  // The first tile with a query that attends to the first key.
  const int64_t unseeing = shape.causal && first > head.past ? first - head.past : 0;
  const int64_t begin = unseeing / tile_of_lanes * tile_of_lanes;
  for (int64_t query = begin; query < head.queries.length; query += tile_of_lanes) {
    PairGradients pairs[own_of_warp];
    key_pairs(o, head, first, query, chunk, pairs);
    if (own >= head.keys.length) continue;
    float scores[own_of_warp], weights[own_of_warp];
    for (int i = 0; i < own_of_warp; ++i) {
      scores[i] = pairs[i].score * shape.scale;
      weights[i] = pairs[i].weight;
    }
    store_pairs(scores, pair_tile(0));
    store_pairs(weights, pair_tile(1));
    sync_warp();
    const int64_t left = head.queries.length - query;
    const int count = static_cast<int>(left < tile_of_lanes ? left : tile_of_lanes);
    add_weighted_rows(pair_tile(0), other_tile(0), count, columns, k_sums);
    add_weighted_rows(pair_tile(1), other_tile(1), count, columns, v_sums);
  }
  store_gradient(k_gradient, head, head.keys, own, shape.width, chunk, o.accumulate, k_sums);
  store_gradient(v_gradient, head, head.keys, own, shape.width, chunk, o.accumulate, v_sums);
}

GPU_KERNEL key_gradients_kernel(AttentionBackward o, Matrix k_gradient, Matrix v_gradient) {
  const AttentionGrid& grid = o.forward.grid;
  const AttentionPart part = attention_part(grid);
  const SpanHead head = head_of(o.forward.shape, part.task);
  for (int64_t first = part.part * own_rows(); first < head.keys.length; first += grid.parts * own_rows())
    key_gradients(o, head, first, part.chunk, k_gradient, v_gradient);
}

// --- both -------------------------------------------------------------------------------------------

GPU_KERNEL deltas_kernel(ConstMatrix out, ConstMatrix out_gradient, int64_t heads, int64_t width,
                         float* deltas) {
  const int64_t r = row_of_warp();
  if (r >= out.rows) return;
  const float *x = out.data + r * out.row_stride, *dx = out_gradient.data + r * out_gradient.row_stride;
  for (int64_t head = 0; head < heads; ++head) {
    float sum = 0;
    for (int64_t c = lane(); c < width; c += warp_size)
      sum = fmaf(x[head * width + c], dx[head * width + c], sum);
    sum = warp_sum(sum);
    if (lane() == 0) deltas[r * heads + head] = sum;
  }
}

}  // namespace
}  // namespace dragoman::internal
