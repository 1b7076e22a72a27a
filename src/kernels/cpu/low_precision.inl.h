// Products with a low-precision right operand (LowPrecisionMatrix): the loops, for every arithmetic.
//
// First all rows of a are copied as the arithmetic wants them (int8: rounded by their own scale), then a task has a
// block of rows and a run of columns. A tile's sums go through the whole inner index in registers. For int8 they are
// exact; for bf16 they are one chain over the inner index. Either way no choice of tiles can change them.
#pragma once

#include <stdint.h>

#include "kernels/cpu/epilogue.inl.h"
#include "kernels/cpu/low_precision_operands.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/kernels.h"
#if defined(DRAGOMAN_TILES)
#include "kernels/cpu/low_precision_tiles.inl.h"
#endif

namespace dragoman::internal {
namespace {

// --- a tile -----------------------------------------------------------------------------------------

template <class Kind>
constexpr int64_t low_precision_tile_columns = Kind::tile_vectors* Kind::columns;

// Where the first line of each vector of a tile's columns is.
template <class Kind>
struct TileColumns {
  const unsigned char* first[Kind::tile_vectors];
};

template <class Kind>
TileColumns<Kind> tile_columns_of(const LowPrecisionMatrix& b, int64_t first_column) {
  TileColumns<Kind> right = {};
  const int64_t lines = lines_of<Kind>(b.rows), last_panel = (b.columns - 1) / low_precision_panel_columns;
  for (int j = 0; j < Kind::tile_vectors; ++j) {
    // What is after the last panel is not used, but must be readable.
    const int64_t column = first_column + j * Kind::columns;
    const int64_t panel = smaller(column / low_precision_panel_columns, last_panel);
    right.first[j] = b.data + panel * lines * low_precision_line_bytes +
                     column % low_precision_panel_columns * low_precision_column_bytes;
  }
  return right;
}

template <class Kind, int rows>
void add_excess(const LeftRows<Kind>& left, const TileColumns<Kind>& right, int64_t row,
                typename Kind::Sum (&sums)[rows][Kind::tile_vectors]) {
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    const Excess excess = left.excess_of(row + i);
    for (int32_t n = 0; n < *excess.count; ++n) {
      const int64_t line = excess.lines[n] * low_precision_line_bytes;
#pragma GCC unroll 8
      for (int j = 0; j < Kind::tile_vectors; ++j)
        sums[i][j] = Kind::multiply_add(excess.bytes[n], Kind::load(right.first[j] + line), sums[i][j]);
    }
  }
}

template <class Kind, int rows>
void low_precision_tile(const LeftRows<Kind>& left, const TileColumns<Kind>& right,
                        const LowPrecisionTile& tile) {
  constexpr int vectors = Kind::tile_vectors;
  constexpr bool of_two_panels = vectors * Kind::columns == 2 * low_precision_panel_columns;
  const int64_t lines = lines_of<Kind>(tile.b.rows);
  typename Kind::Sum sums[rows][vectors] = {};
  const unsigned char* columns[vectors];
#pragma GCC unroll 8
  for (int j = 0; j < vectors; ++j) columns[j] = right.first[j];
  // A pointer for every three rows, which an address reaches by the stride: a pointer each would be too many.
  const int64_t stride = left.stride * int64_t{sizeof(typename Kind::Element)};
  const char* a[(rows + 2) / 3];
#pragma GCC unroll 4
  for (int i = 0; i < rows; i += 3) a[i / 3] = reinterpret_cast<const char*>(left.row(tile.row + i));
  const unsigned char* upcoming = tile.upcoming;
  for (int64_t line = 0; line < lines; ++line) {
    __builtin_prefetch(upcoming, 0, 2);
    if constexpr (of_two_panels &&
                  rows > 1)  // one row's products are limited by how much can be fetched at once
      __builtin_prefetch(upcoming + tile.upcoming_step / 2, 0, 2);
    upcoming += tile.upcoming_step;
    typename Kind::Right b[vectors];
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
      b[j] = Kind::load(columns[j]);
      columns[j] += low_precision_line_bytes;
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      typename Kind::Left element;
      __builtin_memcpy(&element, a[i / 3] + i % 3 * stride, sizeof element);
#pragma GCC unroll 8
      for (int j = 0; j < vectors; ++j) sums[i][j] = Kind::multiply_add(element, b[j], sums[i][j]);
    }
#pragma GCC unroll 4
    for (const char*& rows_of_three : a) {
      rows_of_three += sizeof(typename Kind::Left);
      asm("" : "+r"(rows_of_three));  // or the compiler makes a pointer for each row after all
    }
  }
  if constexpr (has_excess<Kind>) add_excess<Kind, rows>(left, right, tile.row, sums);
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    const int64_t row = tile.row + i;
    float* out = tile.c.data + row * tile.c.stride + tile.column;
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
      const int64_t count = tile.columns - j * lanes;
      const Vec values = value_of(left, tile, row, Kind::result(sums[i][j]), j * lanes, count);
      if (count > 0) store_some(out + j * lanes, values, count);
    }
  }
}

// The tile for this number of rows.
template <class Kind, int rows = Kind::tile_rows>
void low_precision_rows(int64_t row_count, const LeftRows<Kind>& left, const TileColumns<Kind>& right,
                        const LowPrecisionTile& tile) {
  if (row_count == rows) {
    low_precision_tile<Kind, rows>(left, right, tile);
  } else if constexpr (rows > 1) {
    low_precision_rows<Kind, rows - 1>(row_count, left, right, tile);
  }
}

// --- the whole --------------------------------------------------------------------------------------

constexpr int64_t low_precision_block_rows = 120;  // of a task
constexpr int64_t low_precision_run_columns = 256;
constexpr int64_t low_precision_run_unit = 64;
constexpr int64_t low_precision_enough_tasks = 16;

// Rows [first, end) of the columns [column, end_column): every tile of rows is multiplied with them in turn.
template <class Kind>
void low_precision_part(const LeftRows<Kind>& left, const LowPrecisionMatrix& b, const Matrix& c,
                        int64_t first, int64_t end, int64_t column, int64_t end_column) {
  constexpr int64_t width = low_precision_tile_columns<Kind>;
  const int64_t tiles = ceil_div(end - first, Kind::tile_rows);
  const int64_t bytes = lines_of<Kind>(b.rows) * width * 4;  // of a tile's columns
  for (int64_t j = column; j < end_column; j += width) {
    const unsigned char* next = b.data + (j / width + 1) * bytes;
    const TileColumns<Kind> right = tile_columns_of<Kind>(b, j);
    int64_t row = first;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t rows = ceil_div(end - row, tiles - tile);
      low_precision_rows<Kind>(rows, left, right,
                               {.b = b,
                                .c = c,
                                .row = row,
                                .column = j,
                                .columns = smaller(width, end_column - j),
                                .upcoming = next + tile * bytes / tiles,
                                .upcoming_step = ceil_div(width * 4, tiles)});
      row += rows;
    }
  }
}

template <class Kind>
void low_precision_product(Context& context, ConstMatrix a, const LowPrecisionMatrix& b, Matrix c,
                           const Epilogue& epilogue) {
  if (c.rows <= 0 || c.columns <= 0) return;
  const LeftRows<Kind> left = left_rows<Kind>(context, a.rows, b.rows);
  for_each_row(context, a.rows, b.rows,
               [&](int64_t i) { copy_row(left, i, a.data + i * a.row_stride, b.rows); });
  const int64_t blocks = ceil_div(c.rows, low_precision_block_rows),
                units = ceil_div(c.columns, low_precision_run_unit);
  const int64_t runs = smaller(units, larger(ceil_div(c.columns, low_precision_run_columns),
                                             ceil_div(low_precision_enough_tasks, blocks)));
  for_each_task(context, blocks * runs, [&](int64_t task, int) {
    const int64_t block = task % blocks, run = task / blocks;
    const int64_t row = block * c.rows / blocks, end = (block + 1) * c.rows / blocks;
    const int64_t column = run * units / runs * low_precision_run_unit;
    const int64_t end_column = smaller(c.columns, (run + 1) * units / runs * low_precision_run_unit);
    if constexpr ((rows_behind<Kind>) > 0)
      low_precision_part_in_tiles(left, b, c, row, end, column, end_column);
    else
      low_precision_part(left, b, c, row, end, column, end_column);
    if (has_work(epilogue)) finish_rows(epilogue, c, row, end - row, column, end_column - column);
  });
}

inline void int8_product(Context& context, ConstMatrix a, const LowPrecisionMatrix& b, Matrix c,
                         const Epilogue& epilogue) {
#if defined(DRAGOMAN_TILES)
  if (c.rows > Int8::tile_rows) return low_precision_product<Int8Tiles>(context, a, b, c, epilogue);
#endif
  low_precision_product<Int8>(context, a, b, c, epilogue);
}

inline int64_t inner_of_line(Precision precision) { return precision == Precision::int8 ? 4 : 2; }
inline int64_t line_count(const LowPrecisionMatrix& b) {
  return ceil_div(b.rows, inner_of_line(b.precision));
}

// Where the column's 4 bytes of its panel's first line are.
inline int64_t place_of(const LowPrecisionMatrix& b, int64_t column) {
  return column / low_precision_panel_columns * line_count(b) * low_precision_line_bytes +
         column % low_precision_panel_columns * low_precision_column_bytes;
}

inline float widened(const LowPrecisionMatrix& b, int64_t k, int64_t column) {
  const int64_t of_line = inner_of_line(b.precision);
  const unsigned char* element =
      b.data + place_of(b, column) + k / of_line * low_precision_line_bytes + k % of_line * (4 / of_line);
  if (b.precision == Precision::int8) return static_cast<float>(*element - 128) * b.scales[column];
  const uint32_t bits = static_cast<uint32_t>(element[0]) << 16 | static_cast<uint32_t>(element[1]) << 24;
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

inline void widen_columns(Context& context, const LowPrecisionMatrix& b, const int32_t* columns, Matrix out) {
  for_each_row(context, out.rows, out.columns, [&](int64_t r) {
    for (int64_t k = 0; k < b.rows; ++k) out.data[r * out.stride + k] = widened(b, k, columns[r]);
  });
}

// A panel is a task: its padding first, then column by column.
inline void gather_columns(Context& context, const LowPrecisionMatrix& b, const int32_t* columns,
                           int64_t count, unsigned char* data, float* scales) {
  const LowPrecisionMatrix to = {b.precision, data, scales, b.rows, count};
  const int64_t panel_bytes = line_count(b) * low_precision_line_bytes;
  for_each_task(context, ceil_div(count, low_precision_panel_columns), [&](int64_t panel, int) {
    __builtin_memset(data + panel * panel_bytes, b.precision == Precision::int8 ? 128 : 0,
                     static_cast<size_t>(panel_bytes));
    const int64_t begin = panel * low_precision_panel_columns;
    for (int64_t j = begin; j < smaller(count, begin + low_precision_panel_columns); ++j) {
      const unsigned char* from = b.data + place_of(b, columns[j]);
      unsigned char* column = data + place_of(to, j);
      for (int64_t at = 0; at < panel_bytes; at += low_precision_line_bytes)
        __builtin_memcpy(column + at, from + at, low_precision_column_bytes);
      if (b.precision == Precision::int8) scales[j] = b.scales[columns[j]];
    }
  });
}

}  // namespace
}  // namespace dragoman::internal
