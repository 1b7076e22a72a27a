// How threads share rows: a warp takes a row, and a lane the columns of it that one counter of dropout decides for.
// Sums over rows are made block by block of rows, and the blocks' sums are added in their order.
#pragma once

#include "kernels/cuda/random.inl.h"

namespace dragoman::internal {
namespace {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// --- a warp a row -----------------------------------------------------------------------------------

constexpr int rows_of_block = 4;

inline Grid row_grid(const char* name, int64_t rows) {
  return {name, ceil_div(rows, rows_of_block), rows_of_block * warp_size};
}
GPU_FUNCTION int64_t row_of_warp() { return block_index() * block_warps() + warp_index(); }

// body(column, multiplier) for this lane's columns of a row, ascending.
template <class Body>
GPU_FUNCTION void for_columns(const DropoutMask& mask, int64_t row, int64_t columns, const Body& body) {
  constexpr int lanes_of_block = dropout_block / columns_of_lane;
  const int64_t step = warp_size * columns_of_lane;
  const int counter = lane() % lanes_of_block;
  for (int64_t first = lane() / lanes_of_block * dropout_block; first < columns; first += step) {
    PhiloxWords s = {};
    if (mask.drops)
      s = philox(mask, mask.rows[row], 0, static_cast<uint32_t>(first / dropout_block * 8 + counter));
#pragma unroll
    for (int n = 0; n < columns_of_lane; ++n) {
      const int quarter = n / 2, of_pair = n % 2;
      const int64_t column = first + 16 * quarter + 2 * counter + of_pair;
      if (column >= columns) continue;
      body(column,
           mask.drops ? dropout_multiplier(mask, s.word[quarter / 2 * 2 + of_pair], quarter % 2) : 1.0f);
    }
  }
}

// body(column) for this lane's columns of a row, where nothing drops.
template <class Body>
GPU_FUNCTION void for_each_column(int64_t columns, const Body& body) {
  for (int64_t c = lane(); c < columns; c += warp_size) body(c);
}

// --- sums over rows ---------------------------------------------------------------------------------

constexpr int64_t summed_rows = 64;  // whose sum a thread makes, column by column
constexpr int column_threads = 128;

// A block for each block of rows and each run of columns.
inline Grid column_grid(const char* name, int64_t rows, int64_t columns) {
  return {name, ceil_div(rows, summed_rows) * ceil_div(columns, column_threads), column_threads};
}
struct RowsAndColumn {
  int64_t block, begin, end;  // of the rows
  int64_t column;
};
GPU_FUNCTION RowsAndColumn summed_part(int64_t rows, int64_t columns) {
  const int64_t runs = ceil_div(columns, column_threads), block = block_index() / runs;
  const int64_t begin = block * summed_rows, end = begin + summed_rows;
  return {block, begin, end < rows ? end : rows, block_index() % runs * column_threads + thread_index()};
}

constexpr int adding_warps = 8;

// sums[c] += Σ over blocks of partial[block][c]: each warp adds every eighth block, then the warps' sums are added.
GPU_KERNEL add_partial_sums_kernel(const float* partial, int64_t blocks, int64_t columns, float* sums) {
  const Shared<float> of_warps = shared<float>(0);
  const int64_t column = block_index() * warp_size + lane();
  float total = 0;
  if (column < columns)
    for (int64_t b = warp_index(); b < blocks; b += adding_warps) total += partial[b * columns + column];
  of_warps[thread_index()] = total;
  sync_block();
  if (warp_index() > 0 || column >= columns) return;
  float sum = sums[column];
  for (int w = 0; w < adding_warps; ++w) sum += of_warps[w * warp_size + lane()];
  sums[column] = sum;
}

inline void add_partial_sums(Context& context, const float* partial, int64_t blocks, int64_t columns,
                             float* sums) {
  constexpr int threads = adding_warps * warp_size;
  launch(context, {"add_partial_sums", ceil_div(columns, warp_size), threads, threads * sizeof(float)},
         add_partial_sums_kernel, partial, blocks, columns, sums);
}

inline float* float_workspace(Context& context, int64_t floats) {
  return static_cast<float*>(gpu(context).workspace(static_cast<size_t>(floats) * sizeof(float)));
}

}  // namespace
}  // namespace dragoman::internal
