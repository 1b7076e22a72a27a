// Sums over rows, of each column: blocks of threads add up rows, as many as the shape alone says, and the blocks' sums
// are added in their order.
#pragma once

#include "kernels/cuda/fours.inl.h"

namespace dragoman::internal {
namespace {

constexpr int64_t fewest_summed_rows = 32;
constexpr int summing_warps = 8, summing_threads = summing_warps * warp_size;

// Of a block, so that there are about as many blocks as this.
constexpr int64_t summed_rows(int64_t rows, int64_t wanted_blocks) {
  const int64_t each = ceil_div(rows, wanted_blocks);
  return ceil_div(each > fewest_summed_rows ? each : fewest_summed_rows, summing_warps) * summing_warps;
}

struct SummedRows {
  int64_t begin, end;
};
GPU_FUNCTION SummedRows rows_of_block_sum(int64_t block, int64_t summed, int64_t rows) {
  const int64_t begin = block * summed, end = begin + summed;
  return {begin, end < rows ? end : rows};
}

// What the lanes of all warps have of their columns: to[column] = the sum over the warps, in their order. `of_warps`:
// a row of `columns` floats for each warp. All threads of a block call it together.
template <int steps>
GPU_FUNCTION void add_up_warps(const WideRow<steps>& sums, int columns, const Shared<float>& of_warps,
                               float* to) {
  for_fours<steps>(columns, [&](int i, int column) {
#pragma unroll
    for (int j = 0; j < 4; ++j) of_warps[warp_index() * columns + column + j] = sums.four[i].x[j];
  });
  sync_block();
  for (int column = thread_index(); column < columns; column += block_threads()) {
    float sum = 0;
    for (int w = 0; w < block_warps(); ++w) sum += of_warps[w * columns + column];
    to[column] = sum;
  }
  sync_block();
}

// --- where columns cannot be read in fours ----------------------------------------------------------

constexpr int column_threads = 128;

// A thread for each block of rows and each column.
inline Grid column_grid(const char* name, int64_t row_blocks, int64_t columns) {
  return {name, row_blocks * ceil_div(columns, column_threads), column_threads};
}
struct RowsAndColumn {
  int64_t block, column;
};
GPU_FUNCTION RowsAndColumn summed_part(int64_t columns) {
  const int64_t runs = ceil_div(columns, column_threads);
  return {block_index() / runs, block_index() % runs * column_threads + thread_index()};
}

// --- the blocks' sums -------------------------------------------------------------------------------

// Two sums over the same rows: the second one's blocks follow all of the first one's. The second may be null.
struct SummedColumns {
  float *first, *second = nullptr;
};

constexpr int adding_warps = 16;

// sums[c] += Σ over blocks of partial[block][c]: each warp adds every sixteenth block, then the warps' sums are added.
GPU_KERNEL add_partial_sums_kernel(const float* partial, int64_t blocks, int64_t columns,
                                   SummedColumns targets) {
  const Shared<float> of_warps = shared<float>(0);
  const int64_t runs = ceil_div(columns, warp_size), column = block_index() % runs * warp_size + lane();
  float* sums = targets.first;
  if (block_index() >= runs) {
    sums = targets.second;
    partial += blocks * columns;
  }
  float total = 0;
  if (column < columns) {
#pragma unroll 4
    for (int64_t b = warp_index(); b < blocks; b += adding_warps) total += partial[b * columns + column];
  }
  of_warps[thread_index()] = total;
  sync_block();
  if (warp_index() > 0 || column >= columns) return;
  float sum = sums[column];
  for (int w = 0; w < adding_warps; ++w) sum += of_warps[w * warp_size + lane()];
  sums[column] = sum;
}

inline void add_partial_sums(Context& context, const float* partial, int64_t blocks, int64_t columns,
                             const SummedColumns& sums) {
  constexpr int threads = adding_warps * warp_size;
  const int64_t targets = sums.second != nullptr ? 2 : 1;
  launch(context,
         {"add_partial_sums", targets * ceil_div(columns, warp_size), threads, threads * sizeof(float)},
         add_partial_sums_kernel, partial, blocks, columns, sums);
}

}  // namespace
}  // namespace dragoman::internal
