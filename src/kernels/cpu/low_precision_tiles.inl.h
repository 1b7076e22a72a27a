// Low-precision products in AMX's tiles (tiles.inl.h): 32 rows times 32 columns of c at a time. low_precision.inl.h has
// what is around them.
#pragma once

#include <stdint.h>

#include "kernels/cpu/low_precision_operands.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/tiles.inl.h"

namespace dragoman::internal {
namespace {

// What a part of c is made of. A line of b has 4 bytes of a panel's 16 columns, and meets 4 bytes of a row of a.
struct TileOperands {
  const void* a;
  int64_t a_stride;  // bytes from one row to the next
  const unsigned char* b;
  int64_t lines;
  bool low, wide;                 // more than 16 rows, more than 16 columns
  const unsigned char* upcoming;  // prefetched meanwhile; each step continues upcoming_step bytes further on
  int64_t upcoming_step;
};

// Tiles 0 to 3 are c's, of which the last two are further down; 4 and 5 are a's, 6 and 7 b's.
template <class Kind>
void multiply_in_tiles(const TileOperands& from) {
  clear_tile<0>();
  clear_tile<1>();
  clear_tile<2>();
  clear_tile<3>();
  const auto* a = static_cast<const unsigned char*>(from.a);
  const unsigned char* b = from.b;
  const int64_t panel = from.lines * low_precision_line_bytes;
  const unsigned char* upcoming = from.upcoming;
  for (int64_t left = from.lines; left > 0; left -= tile_side) {
    for (int64_t ahead = 0; ahead < from.upcoming_step; ahead += low_precision_line_bytes)
      __builtin_prefetch(upcoming + ahead, 0, 2);
    upcoming += from.upcoming_step;
    load_tile<4>(a, from.a_stride);
    load_rows<6>(b, low_precision_line_bytes, left);
    Kind::template add_products<0, 4, 6>();
    if (from.wide) {
      load_rows<7>(b + panel, low_precision_line_bytes, left);
      Kind::template add_products<1, 4, 7>();
    }
    if (from.low) {
      load_tile<5>(a + tile_side * from.a_stride, from.a_stride);
      Kind::template add_products<2, 5, 6>();
      if (from.wide) Kind::template add_products<3, 5, 7>();
    }
    a += tile_side * low_precision_column_bytes;
    b += tile_side * low_precision_line_bytes;
  }
}

// A tile's sums as rows of c, from (row, column) on.
template <class Kind, int number>
void finish_tile(const LeftRows<Kind>& left, const LowPrecisionTile& to, int64_t rows) {
  alignas(64) float sums[tile_side][tile_side];
  store_tile<number>(sums, 64);
  for (int64_t i = 0; i < smaller(rows, tile_side); ++i)
    for (int64_t j = 0; j < smaller(to.columns, tile_side); j += lanes) {
      const auto sum = reinterpret_cast<typename Kind::Sum>(load(&sums[i][j]));
      store_some(to.c.data + (to.row + i) * to.c.stride + to.column + j,
                 value_of(left, to, to.row + i, sum, j, to.columns - j), to.columns - j);
    }
}

template <class Kind>
void low_precision_part_in_tiles(const LeftRows<Kind>& left, const LowPrecisionMatrix& b, const Matrix& c,
                                 int64_t first, int64_t end, int64_t column, int64_t end_column) {
  begin_tiles();
  const int64_t lines = lines_of<Kind>(b.rows), tiles = ceil_div(end - first, 2 * tile_side);
  const int64_t a_stride = left.stride * static_cast<int64_t>(sizeof(typename Kind::Element));
  const int64_t bytes = 2 * lines * low_precision_line_bytes;  // of two panels
  for (int64_t j = column; j < end_column; j += 2 * tile_side) {
    const unsigned char* panels = b.data + j / (2 * tile_side) * bytes;
    for (int64_t tile = 0, row = first; row < end; ++tile, row += 2 * tile_side) {
      const bool low = end - row > tile_side, wide = end_column - j > tile_side;
      multiply_in_tiles<Kind>({.a = left.row(row),
                               .a_stride = a_stride,
                               .b = panels,
                               .lines = lines,
                               .low = low,
                               .wide = wide,
                               .upcoming = panels + bytes + tile * bytes / tiles,
                               .upcoming_step = ceil_div(2 * tile_side * low_precision_line_bytes, tiles)});
      const auto part = [&](int64_t down, int64_t right) {
        return LowPrecisionTile{.b = b,
                                .c = c,
                                .row = row + down,
                                .column = j + right,
                                .columns = end_column - j - right,
                                .upcoming = nullptr,
                                .upcoming_step = 0};
      };
      finish_tile<Kind, 0>(left, part(0, 0), end - row);
      if (wide) finish_tile<Kind, 1>(left, part(0, tile_side), end - row);
      if (low) finish_tile<Kind, 2>(left, part(tile_side, 0), end - row - tile_side);
      if (low && wide) finish_tile<Kind, 3>(left, part(tile_side, tile_side), end - row - tile_side);
    }
  }
  end_tiles();
}

}  // namespace
}  // namespace dragoman::internal
