// Rows read and written four columns at a time, which full speed takes; in the order of rows.inl.h, so that sums over a
// row have the same bits either way.
#pragma once

#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

// Whether a matrix can be: its columns are a multiple of four, and so are its rows' places in memory. One that is not
// there is in nobody's way.
inline bool in_fours(const ConstMatrix& m) {
  return !is_there(m) ||
         (m.columns % 4 == 0 && m.row_stride % 4 == 0 && is_multiple_of(m.data, sizeof(Four)) &&
          is_multiple_of(m.rounded, sizeof(FourBf16)));
}
inline bool floats_in_fours(const ConstMatrix& m) {
  return in_fours(m) && (m.data != nullptr || !is_there(m));
}
inline bool in_fours(const float* values) { return is_multiple_of(values, sizeof(Four)); }

// --- a warp a row -----------------------------------------------------------------------------------

template <class T>
using FourOf = decltype(load_four(static_cast<const T*>(nullptr)));

// What a lane holds of a row of up to steps * columns_of_step columns: T is float or Bf16, as they stand in memory.
// What is beyond the row is 0.
template <class T, int steps>
struct RowOf {
  FourOf<T> four[2 * steps];
};
template <int steps>
using WideRow = RowOf<float, steps>;

GPU_FUNCTION int column_of_four(int i) {
  return i / 2 * columns_of_step + lane() / lanes_of_block * dropout_block + first_of_four(i % 2);
}

// body(i, column) for each four of this lane's, in registers: i is known when it is compiled.
template <int steps, class Body>
GPU_FUNCTION void for_fours(int columns, const Body& body) {
#pragma unroll
  for (int i = 0; i < 2 * steps; ++i) {
    const int column = column_of_four(i);
    if (column < columns) body(i, column);
  }
}
template <int steps, class Body>
GPU_FUNCTION void for_fours(int64_t columns, const Body& body) {
  for_fours<steps>(static_cast<int>(columns), body);
}

// The same without a branch, for what 0 beyond the row does no harm to; the column is 0 there, so that it may be read.
template <int steps, class Body>
GPU_FUNCTION void for_held(int64_t columns, const Body& body) {
  const int width = static_cast<int>(columns);
#pragma unroll
  for (int i = 0; i < 2 * steps; ++i) {
    const int column = column_of_four(i);
    body(i, column < width ? column : 0);
  }
}

template <class T>
GPU_FUNCTION const T* values_of(const ConstMatrix& m) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return m.data;
  } else {
    return m.rounded;
  }
}

// As it stands in memory: several rows are on their way at once if none is widened before the last has been asked for.
// `wanted`: else all of it is 0, and nothing is read.
template <class T, int steps>
GPU_FUNCTION RowOf<T, steps> load_as(const ConstMatrix& m, int64_t r, bool wanted = true) {
  RowOf<T, steps> row = {};
  const int64_t place = r * m.row_stride;
  for_fours<steps>(wanted ? m.columns : 0,
                   [&](int i, int c) { row.four[i] = load_four(values_of<T>(m) + place + c); });
  return row;
}
template <int steps>
GPU_FUNCTION WideRow<steps> load_values(const float* values, int64_t columns) {
  return load_as<float, steps>({values, 1, columns, columns}, 0, values != nullptr);
}

template <class T, int steps>
GPU_FUNCTION WideRow<steps> widened(const RowOf<T, steps>& row) {
  WideRow<steps> wide;
#pragma unroll
  for (int i = 0; i < 2 * steps; ++i) wide.four[i] = widened(row.four[i]);
  return wide;
}

template <int steps>
GPU_FUNCTION WideRow<steps> load_row(const ConstMatrix& m, int64_t r) {
  return m.data != nullptr ? load_as<float, steps>(m, r) : widened(load_as<Bf16, steps>(m, r));
}
template <int steps>
GPU_FUNCTION void store_row(const WideRow<steps>& row, const Matrix& m, int64_t r) {
  if (m.data != nullptr) {
    float* to = m.data + r * m.stride;
    for_fours<steps>(m.columns, [&](int i, int c) { store_four(row.four[i], to + c); });
  }
  if (m.rounded != nullptr) {
    Bf16* to = m.rounded + r * m.stride;
    for_fours<steps>(m.columns, [&](int i, int c) { store_four(rounded_to_bf16(row.four[i]), to + c); });
  }
}

// body(i, j, multiplier) for all x = row.four[i].x[j] of a row that begins at column `first` of dropout's, a multiple
// of 64. All lanes of a warp call it together.
template <int steps, class Body>
GPU_FUNCTION void for_dropped(const DropoutMask& mask, int64_t r, int64_t first, const Body& body) {
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    const uint32_t kept = kept_columns(mask, r, block_of_lane(first + s * columns_of_step));
#pragma unroll
    for (int n = 0; n < columns_of_lane; ++n) body(2 * s + n / 4, n % 4, multiplier_of(mask, kept, n));
  }
}

// --- a warp a part of a row -------------------------------------------------------------------------

constexpr int steps_of_part = 2;
constexpr int64_t columns_of_part = steps_of_part * columns_of_step;

inline Grid part_grid(const char* name, int64_t rows, int64_t columns) {
  Grid grid = row_grid(name, rows);
  grid.blocks *= ceil_div(columns, columns_of_part);
  return grid;
}
struct PartOfRow {
  int64_t row, first;
};
GPU_FUNCTION PartOfRow part_of_warp(int64_t columns) {
  const auto parts = static_cast<uint32_t>(ceil_div(columns, columns_of_part));
  const auto block = static_cast<uint32_t>(block_index());
  return {int64_t{block / parts} * block_warps() + warp_index(), int64_t{block % parts} * columns_of_part};
}

// The columns from `first` on.
template <class AnyMatrix>
GPU_FUNCTION AnyMatrix from_column(AnyMatrix m, int64_t first) {
  if (m.data != nullptr) m.data += first;
  if (m.rounded != nullptr) m.rounded += first;
  m.columns -= first;
  return m;
}

}  // namespace
}  // namespace dragoman::internal
