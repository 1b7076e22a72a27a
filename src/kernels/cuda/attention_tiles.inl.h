// What all kernels of attention are made of. A block works on one head of a span. It has a tile of rows of its own,
// four a warp (queries; in the backward of keys and values, keys), and meets the other side in tiles of 32, one a lane.
// Both stand in shared memory, 64 columns at a time; a wider head goes through it chunk by chunk. Tiles count from the
// beginning of the span, so that a row's result is the same alone, in a step of decoding, and among others.
#pragma once

#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

constexpr int attention_warps = 4, own_of_warp = 4, tile_of_lanes = warp_size;
constexpr int chunk_columns = 64, halves = chunk_columns / warp_size;
constexpr int other_stride = chunk_columns + 4;  // so that lanes which read four floats meet in no bank

// --- shared memory ----------------------------------------------------------------------------------

// Two matrices of each kind: what forward has one of, backward has two of.
inline size_t attention_shared_bytes(int warps) {
  const int own = warps * own_of_warp;
  return static_cast<size_t>(2 * (tile_of_lanes * other_stride + own * (tile_of_lanes + chunk_columns))) *
         sizeof(float);
}
GPU_FUNCTION int own_rows() { return block_warps() * own_of_warp; }
GPU_FUNCTION Shared<float> floats_at(int place) {
  return shared<float>(static_cast<size_t>(place) * sizeof(float));
}
GPU_FUNCTION Shared<float> other_tile(int n) { return floats_at(n * tile_of_lanes * other_stride); }
GPU_FUNCTION Shared<float> pair_tile(int n) {
  return floats_at(2 * tile_of_lanes * other_stride + n * own_rows() * tile_of_lanes);
}
GPU_FUNCTION Shared<float> own_tile(int n) {
  return floats_at(2 * (tile_of_lanes * other_stride + own_rows() * tile_of_lanes) +
                   n * own_rows() * chunk_columns);
}

// --- one head of a span -----------------------------------------------------------------------------

struct SpanHead {
  int64_t index;
  Span queries, keys;
  int64_t past;  // keys before the first query's own: from earlier steps of decoding
};

GPU_FUNCTION SpanHead head_of(const AttentionShape& shape, int64_t task) {
  const Span queries = shape.queries[task / shape.heads], keys = shape.keys[task / shape.heads];
  return {task % shape.heads, queries, keys, keys.length - queries.length};
}

// How many keys query i attends to; none beyond the last query.
GPU_FUNCTION int64_t visible_keys(const AttentionShape& shape, const SpanHead& head, int64_t i) {
  if (i >= head.queries.length) return 0;
  return shape.causal ? head.past + i + 1 : head.keys.length;
}

// The row of a table by distance for a key and the position of a query.
GPU_FUNCTION int64_t row_of_distance(int64_t rows, int64_t key, int64_t position) {
  const int64_t r = key - position + (rows - 1) / 2;
  return r < 0 ? 0 : r < rows ? r : rows - 1;
}

// --- tiles ------------------------------------------------------------------------------------------

// Rows of a matrix that a tile is copied from: a span's from `first` on, one head's columns.
struct TileRows {
  ConstMatrix matrix;
  const int32_t* list;  // the rows that the span is a list of; null: the span's own
  int64_t begin, length, first_column;
};

GPU_FUNCTION TileRows tile_rows(ConstMatrix matrix, const Span& span, const int32_t* list,
                                const SpanHead& head, int64_t width) {
  return {matrix, list, span.begin, span.length, head.index * width};
}

// Rows [first, first + rows) of the span, as far as it goes, and zeros up to a multiple of what a warp has of its own.
// Of the columns beyond `columns` nothing is written.
GPU_FUNCTION void load_tile(const TileRows& from, int64_t first, int rows, int64_t column, int columns,
                            const Shared<float>& to, int stride) {
  const int64_t left = ceil_div(from.length - first, own_of_warp) * own_of_warp;
  const int needed = static_cast<int>(left < rows ? left : rows);
  for (int index = thread_index(); index < needed * chunk_columns; index += block_threads()) {
    const int r = index / chunk_columns, c = index % chunk_columns;
    if (c >= columns) continue;
    float x = 0;
    if (first + r < from.length) {
      const int64_t place = from.begin + first + r, row = from.list != nullptr ? from.list[place] : place;
      x = element(from.matrix, row, from.first_column + column + c);
    }
    to[r * stride + c] = x;
  }
}

// sums[i] += the product of this warp's own row i and this lane's row of the other side.
GPU_FUNCTION void add_products(const Shared<float>& own, const Shared<float>& other, int columns,
                               float (&sums)[own_of_warp]) {
  const int first = warp_index() * own_of_warp * chunk_columns, mine = lane() * other_stride;
  int c = 0;
#pragma unroll 4
  for (; c + 4 <= columns; c += 4) {
    const Four y = four(other, mine + c);
#pragma unroll
    for (int i = 0; i < own_of_warp; ++i) {
      const Four x = four(own, first + i * chunk_columns + c);
#pragma unroll
      for (int n = 0; n < 4; ++n) sums[i] = fmaf(x.x[n], y.x[n], sums[i]);
    }
  }
  for (; c < columns; ++c) {
    const float y = other[mine + c];
#pragma unroll
    for (int i = 0; i < own_of_warp; ++i) sums[i] = fmaf(own[first + i * chunk_columns + c], y, sums[i]);
  }
}

// sums[i][half] += Σ over the other side's rows j of pairs(i, j) · other(j, this lane's column of the half)
GPU_FUNCTION void add_weighted_rows(const Shared<float>& pairs, const Shared<float>& other, int count,
                                    int columns, float (&sums)[own_of_warp][halves]) {
  const int first = warp_index() * own_of_warp * tile_of_lanes;
#pragma unroll
  for (int half = 0; half < halves; ++half) {
    const int column = half * warp_size + lane();
    if (column >= columns) continue;
    int j = 0;
    for (; j + 4 <= count; j += 4) {
      Four y;
#pragma unroll
      for (int n = 0; n < 4; ++n) y.x[n] = other[(j + n) * other_stride + column];
#pragma unroll
      for (int i = 0; i < own_of_warp; ++i) {
        const Four weights = four(pairs, first + i * tile_of_lanes + j);
#pragma unroll
        for (int n = 0; n < 4; ++n) sums[i][half] = fmaf(weights.x[n], y.x[n], sums[i][half]);
      }
    }
    for (; j < count; ++j) {
      const float y = other[j * other_stride + column];
#pragma unroll
      for (int i = 0; i < own_of_warp; ++i)
        sums[i][half] = fmaf(pairs[first + i * tile_of_lanes + j], y, sums[i][half]);
    }
  }
}

// pairs(this warp's own row i, this lane) = values[i]; the whole warp may read them afterwards.
GPU_FUNCTION void store_pairs(const float (&values)[own_of_warp], const Shared<float>& pairs) {
#pragma unroll
  for (int i = 0; i < own_of_warp; ++i)
    pairs[(warp_index() * own_of_warp + i) * tile_of_lanes + lane()] = values[i];
}

// --- what distances add -----------------------------------------------------------------------------

// Where its own rows are queries: sums[i] += own(i) · the vector by the distance of this lane's key.
GPU_FUNCTION void add_own_products_by_distance(ConstMatrix table, const Shared<float>& own, int64_t key,
                                               int64_t first_position, int64_t column, int columns,
                                               float (&sums)[own_of_warp]) {
  if (table.data == nullptr) return;
  const int first = warp_index() * own_of_warp;
  for (int i = 0; i < own_of_warp; ++i) {
    const float* vector =
        table.data + row_of_distance(table.rows, key, first_position + first + i) * table.row_stride + column;
    for (int c = 0; c < columns; ++c)
      sums[i] = fmaf(own[(first + i) * chunk_columns + c], vector[c], sums[i]);
  }
}

// Where lanes have the queries.
GPU_FUNCTION void add_other_products_by_distance(ConstMatrix table, const Shared<float>& other,
                                                 int64_t first_key, int64_t position, int64_t column,
                                                 int columns, float (&sums)[own_of_warp]) {
  if (table.data == nullptr) return;
  for (int i = 0; i < own_of_warp; ++i) {
    const int64_t key = first_key + warp_index() * own_of_warp + i;
    const float* vector = table.data + row_of_distance(table.rows, key, position) * table.row_stride + column;
    for (int c = 0; c < columns; ++c) sums[i] = fmaf(other[lane() * other_stride + c], vector[c], sums[i]);
  }
}

GPU_FUNCTION float bias_of_distance(const AttentionShape& shape, const SpanHead& head, int64_t key,
                                    int64_t position) {
  const ConstMatrix bias = shape.distance_bias;
  if (bias.data == nullptr) return 0;
  return bias.data[row_of_distance(bias.rows, key, position) * bias.row_stride + head.index];
}

// sums[i][half] += Σ over keys of pairs(i, j) · the vector by distance
GPU_FUNCTION void add_weighted_vectors(ConstMatrix table, const Shared<float>& pairs, int64_t first_key,
                                       int count, int64_t first_position, int64_t column, int columns,
                                       float (&sums)[own_of_warp][halves]) {
  if (table.data == nullptr) return;
  for (int i = 0; i < own_of_warp; ++i) {
    const int own = warp_index() * own_of_warp + i;
    for (int j = 0; j < count; ++j) {
      const int64_t row = row_of_distance(table.rows, first_key + j, first_position + own);
      const float weight = pairs[own * tile_of_lanes + j];
      for (int half = 0; half < halves; ++half) {
        const int c = half * warp_size + lane();
        if (c < columns)
          sums[i][half] = fmaf(weight, table.data[row * table.row_stride + column + c], sums[i][half]);
      }
    }
  }
}

// --- blocks -----------------------------------------------------------------------------------------

// A block for each head of each span, for each chunk of columns of the result, and for some parts of its own tiles.
struct AttentionGrid {
  int parts, chunks, warps;
};

inline AttentionGrid attention_grid(const AttentionShape& shape) {
  constexpr int64_t most_parts = 4;
  const int warps = shape.key_rows != nullptr ? 1 : attention_warps;
  const int64_t tiles = ceil_div(shape.longest_keys, warps * own_of_warp);
  return {static_cast<int>(shape.key_rows != nullptr ? 1
                           : tiles < most_parts      ? tiles > 0 ? tiles : 1
                                                     : most_parts),
          static_cast<int>(ceil_div(shape.width, chunk_columns)), warps};
}
inline Grid grid_of(const char* name, const AttentionShape& shape, const AttentionGrid& grid) {
  return {name, shape.spans * shape.heads * grid.chunks * grid.parts, grid.warps * warp_size,
          attention_shared_bytes(grid.warps)};
}

struct AttentionPart {
  int64_t task;  // the span's and the head's
  int chunk, part;
};
GPU_FUNCTION AttentionPart attention_part(const AttentionGrid& grid) {
  const int64_t b = block_index();
  return {b / grid.parts / grid.chunks, static_cast<int>(b / grid.parts % grid.chunks),
          static_cast<int>(b % grid.parts)};
}
GPU_FUNCTION int columns_of_chunk(int64_t width, int chunk) {
  const int64_t left = width - static_cast<int64_t>(chunk) * chunk_columns;
  return static_cast<int>(left < chunk_columns ? left : chunk_columns);
}

}  // namespace
}  // namespace dragoman::internal
