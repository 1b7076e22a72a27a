// How threads share rows: a warp takes a row, and a lane columns of it in fours.
#pragma once

#include "kernels/cuda/functions.inl.h"
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

// Which columns a lane takes: of each block of 64 that eight lanes share, the n-th lane 4n to 4n + 3 of both halves, so
// that four floats are read at once, and eight lanes read what lies side by side.
constexpr int lanes_of_block = dropout_block / columns_of_lane;
constexpr int columns_of_step = warp_size * columns_of_lane;  // that a warp takes at once

GPU_FUNCTION int64_t block_of_lane(int64_t first) { return first / dropout_block + lane() / lanes_of_block; }
GPU_FUNCTION int first_of_four(int half) {  // after the block's first column
  return half * (dropout_block / 2) + lane() % lanes_of_block * 4;
}

// A bit for each of this lane's columns of a block, ascending: whether dropout keeps it. A counter's words decide for
// other columns than its lane's, so that lanes exchange decisions: all of a warp call it together.
GPU_FUNCTION uint32_t kept_columns(const DropoutMask& mask, int64_t row, int64_t block) {
  if (!mask.drops) return 0xff;
  const int counter = lane() % lanes_of_block;
  const PhiloxWords s = philox(mask, mask.rows[row], 0, static_cast<uint32_t>(block * 8 + counter));
  uint32_t decided = 0;  // bit 4p + 2h + i: column 32p + 16h + 2 * counter + i
#pragma unroll
  for (int word = 0; word < 4; ++word)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      if (keeps(mask, s.word[word], half)) decided |= 1u << (word / 2 * 4 + half * 2 + word % 2);
  const int from = lane() - counter + counter % 4 * 2, quarter = counter / 4 * 2;
  const uint32_t first = shuffle(decided, from) >> quarter, second = shuffle(decided, from + 1) >> quarter;
  return (first & 0x33u) | (second & 0x33u) << 2;
}

GPU_FUNCTION float multiplier_of(const DropoutMask& mask, uint32_t kept, int n) {
  return (kept >> n & 1) != 0 ? mask.scale : 0.0f;
}

// body(column, multiplier) for this lane's columns of a row, ascending. All lanes of a warp call it together.
template <class Body>
GPU_FUNCTION void for_columns(const DropoutMask& mask, int64_t row, int64_t columns, const Body& body) {
  for (int64_t first = 0; first < columns; first += columns_of_step) {
    const int64_t block = block_of_lane(first);
    const uint32_t kept = kept_columns(mask, row, block);
#pragma unroll
    for (int n = 0; n < columns_of_lane; ++n) {
      const int64_t column = block * dropout_block + first_of_four(n / 4) + n % 4;
      if (column >= columns) continue;
      body(column, multiplier_of(mask, kept, n));
    }
  }
}

// body(column) for this lane's columns of a row, where nothing drops.
template <class Body>
GPU_FUNCTION void for_each_column(int64_t columns, const Body& body) {
  for (int64_t c = lane(); c < columns; c += warp_size) body(c);
}

// --- elements ---------------------------------------------------------------------------------------

// A matrix is in floats, in bf16 alone, or in both, where its floats are read.
template <class AnyMatrix>
constexpr bool is_there(const AnyMatrix& m) {
  return m.data != nullptr || m.rounded != nullptr;
}
constexpr ConstMatrix as_read(const Matrix& m) { return {m.data, m.rows, m.columns, m.stride, 1, m.rounded}; }

GPU_FUNCTION float element(const ConstMatrix& m, int64_t row, int64_t column) {
  const int64_t place = row * m.row_stride + column;
  return m.data != nullptr ? m.data[place] : widened(m.rounded[place]);
}
GPU_FUNCTION void set_element(const Matrix& m, int64_t row, int64_t column, float x) {
  const int64_t place = row * m.stride + column;
  if (m.data != nullptr) m.data[place] = x;
  if (m.rounded != nullptr) m.rounded[place] = rounded_to_bf16(x);
}

inline float* float_workspace(Context& context, int64_t floats) {
  return static_cast<float*>(gpu(context).workspace(static_cast<size_t>(floats) * sizeof(float)));
}

}  // namespace
}  // namespace dragoman::internal
