// Sorting of a batch's rows by a key, its word or its position, so that rows of one key stand side by side, in their
// order. Blocks sort tiles of rows: each row counts those of its tile that come before it. Then each row finds, by
// binary search, how many of every other tile do. The work grows with the square of the number of rows, of which 25,000
// take a hundred tiles.
#pragma once

#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

constexpr int sorted_tile = 256;  // rows, one for each thread of a block
constexpr int32_t no_key = 0x7fffffff;

// Rows and their keys, in the order of the keys.
struct SortedRows {
  int32_t *keys, *rows;
};

// ids, or where that is null the positions, are the keys. The last tile is filled up with what comes last.
GPU_KERNEL sort_tiles_kernel(const int32_t* ids, const RowKey* row_keys, int64_t count, SortedRows tiles) {
  const Shared<int32_t> keys = shared<int32_t>(0);
  const int64_t begin = block_index() * sorted_tile, row = begin + thread_index();
  int32_t key = no_key;
  if (row < count) key = ids != nullptr ? ids[row] : static_cast<int32_t>(row_keys[row].position);
  keys[thread_index()] = key;
  sync_block();
  int place = 0;
#pragma unroll 8
  for (int i = 0; i < sorted_tile; ++i) {
    const int32_t other = keys[i];
    place += other < key || (other == key && i < thread_index()) ? 1 : 0;
  }
  tiles.keys[begin + place] = key;
  tiles.rows[begin + place] = static_cast<int32_t>(row);
}

// How many keys of a sorted tile are below the limit.
GPU_FUNCTION int keys_below(const int32_t* tile, int32_t limit) {
  int below = 0;
#pragma unroll
  for (int step = sorted_tile / 2; step > 0; step /= 2) below += tile[below + step - 1] < limit ? step : 0;
  return below + (tile[below] < limit ? 1 : 0);
}

// Of rows with the same key, those of earlier tiles come first.
GPU_KERNEL merge_tiles_kernel(SortedRows tiles, int64_t count, SortedRows to) {
  const int64_t tile_count = ceil_div(count, sorted_tile);
  const int64_t i = block_index() * block_threads() + thread_index(), own = i / sorted_tile;
  if (i >= tile_count * sorted_tile) return;
  const int32_t key = tiles.keys[i];
  if (tiles.rows[i] >= count) return;
  int64_t place = i % sorted_tile;
#pragma unroll 4
  for (int64_t tile = 0; tile < tile_count; ++tile) {
    const int below = keys_below(tiles.keys + tile * sorted_tile, tile < own ? key + 1 : key);
    place += tile != own ? below : 0;
  }
  to.keys[place] = key;
  to.rows[place] = tiles.rows[i];
}

constexpr int64_t sorting_floats(int64_t count) {  // of workspace
  return 4 * ceil_div(count, sorted_tile) * sorted_tile;
}

inline SortedRows sort_rows(Context& context, const int32_t* ids, const RowKey* row_keys, int64_t count,
                            float* memory) {
  constexpr int merging_threads = 128;
  const int64_t tiles = ceil_div(count, sorted_tile), size = tiles * sorted_tile;
  int32_t* words = reinterpret_cast<int32_t*>(memory);
  const SortedRows by_tile = {words, words + size}, sorted = {words + 2 * size, words + 3 * size};
  launch(context, {"sort_tiles", tiles, sorted_tile, sorted_tile * sizeof(int32_t)}, sort_tiles_kernel, ids,
         row_keys, count, by_tile);
  launch(context, {"merge_tiles", size / merging_threads, merging_threads}, merge_tiles_kernel, by_tile,
         count, sorted);
  return sorted;
}

}  // namespace
}  // namespace dragoman::internal
