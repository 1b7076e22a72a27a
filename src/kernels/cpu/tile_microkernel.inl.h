// The innermost part of a product of bf16 in AMX's tiles (tiles.inl.h): up to 32 rows times 32 columns of c, in four of
// them, while the inner index runs in the other four.
//
// An element of c is one chain over groups of 32 inner indices, from the first on, whatever the block or the tile that
// it is computed in.
#pragma once

#include <stdint.h>

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/tiles.inl.h"

namespace dragoman::internal {
namespace {

// c's part of a tile by way of memory, where not all of it is there or sums begin from what is.
struct TileOfC {
  float* c;
  int64_t stride, rows, columns;  // that are there: of columns perhaps none

  template <int tile>
  void load() const {
    if (rows == tile_side && columns == tile_side)
      return load_tile<tile>(c, stride * static_cast<int64_t>(sizeof(float)));
    alignas(64) float part[tile_side][tile_side] = {};
    for (int64_t i = 0; i < rows && columns > 0; ++i)
      __builtin_memcpy(part[i], c + i * stride, static_cast<size_t>(columns) * sizeof(float));
    load_tile<tile>(part, 64);
  }
  template <int tile>
  void store() const {
    if (rows == tile_side && columns == tile_side)
      return store_tile<tile>(c, stride * static_cast<int64_t>(sizeof(float)));
    alignas(64) float part[tile_side][tile_side];
    store_tile<tile>(part, 64);
    for (int64_t i = 0; i < rows && columns > 0; ++i)
      __builtin_memcpy(c + i * stride, part[i], static_cast<size_t>(columns) * sizeof(float));
  }
};

// Tiles 0 to 3 are c's, of which the last two are further down; 4 and 5 are a's, 6 and 7 b's. Words of a behind the
// last step of the inner index are zeros.
template <int64_t row_of_block, int64_t columns_of_panel, class Operands>
void multiply_in_tiles(int64_t rows, const Operands& tile) {
  static_assert(columns_of_panel == 2 * tile_side);
  constexpr int64_t a_stride = row_of_block * 4, b_stride = columns_of_panel * 4;
  const bool low = rows > tile_side, wide = tile.columns > tile_side;
  const auto part = [&](int64_t i, int64_t j) {
    return TileOfC{tile.c + i * tile.c_stride + j, tile.c_stride, smaller(tile_side, rows - i),
                   smaller(tile_side, tile.columns - j)};
  };
  const TileOfC parts[4] = {part(0, 0), part(0, tile_side), part(tile_side, 0), part(tile_side, tile_side)};
  if (tile.from_zero) {
    clear_tile<0>();
    clear_tile<1>();
    clear_tile<2>();
    clear_tile<3>();
  } else {
    parts[0].template load<0>();
    if (wide) parts[1].template load<1>();
    if (low) parts[2].template load<2>();
    if (low && wide) parts[3].template load<3>();
  }
  for (int64_t i = 2 * tile_side; i < 4 * tile_side; ++i) {  // the tile below this one is next
    __builtin_prefetch(tile.c + i * tile.c_stride, 1);
    if (wide) __builtin_prefetch(tile.c + i * tile.c_stride + tile_side, 1);
  }
  const float* upcoming = tile.upcoming;
  for (int64_t k = 0; k < tile.depth; k += tile_side) {
    for (int64_t ahead = 0; ahead < tile_side * tile.upcoming_step; ahead += 16)
      __builtin_prefetch(upcoming + ahead, 0, 2);
    upcoming += tile_side * tile.upcoming_step;
    const int64_t left = tile.depth - k;
    load_tile<4>(tile.a + k, a_stride);
    load_rows<6>(tile.b + k * columns_of_panel, b_stride, left);
    add_products_of_bf16<0, 4, 6>();
    if (wide) {
      load_rows<7>(tile.b + k * columns_of_panel + tile_side, b_stride, left);
      add_products_of_bf16<1, 4, 7>();
    }
    if (!low) continue;
    load_tile<5>(tile.a + tile_side * row_of_block + k, a_stride);
    add_products_of_bf16<2, 5, 6>();
    if (wide) add_products_of_bf16<3, 5, 7>();
  }
  parts[0].template store<0>();
  if (wide) parts[1].template store<1>();
  if (low) parts[2].template store<2>();
  if (low && wide) parts[3].template store<3>();
}

}  // namespace
}  // namespace dragoman::internal
