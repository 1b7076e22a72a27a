// The innermost part of a product: a tile of c, held in registers while the inner index runs.
//
// Sizes follow from the registers: tile_rows × tile_vectors sums, tile_vectors of b, one of a. The last rows of a
// matrix are tiles of fewer rows (a template for each number), the last columns are masked stores: b's panels are
// padded with zeros. An element of c is one chain of multiply-adds over the inner index, which starts from zero
// or from what c holds; no choice of sizes here can change its bits.
//
// `Kind` is the arithmetic (product_arithmetic.inl.h), and depths are in its steps. Words are passed around as floats,
// whatever they hold.
#pragma once

#include <stdint.h>

#include "kernels/cpu/product_arithmetic.inl.h"
#include "kernels/cpu/simd.h"
#if defined(DRAGOMAN_TILES)
#include "kernels/cpu/tile_microkernel.inl.h"
#endif

namespace dragoman::internal {
namespace {

#if defined(DRAGOMAN_TILES)
constexpr int tile_rows = 32;
constexpr int tile_vectors = 32 / lanes;
constexpr int64_t block_depth = 512;
#elif defined(__AVX512F__)  // 32 registers
constexpr int tile_rows = 14;
constexpr int tile_vectors = 2;
constexpr int64_t block_depth = 512;
#elif defined(__AVX2__)     // 16 registers
constexpr int tile_rows = 6;
constexpr int tile_vectors = 2;
constexpr int64_t block_depth = 256;
#elif defined(__aarch64__)  // 32 registers
constexpr int tile_rows = 7;
constexpr int tile_vectors = 3;
constexpr int64_t block_depth = 512;
#else  // 16 registers, one of which a multiplication without a fused addition needs for itself
constexpr int tile_rows = 4;
constexpr int tile_vectors = 3;
constexpr int64_t block_depth = 256;
#endif

constexpr int64_t tile_columns = tile_vectors * lanes;

#if defined(DRAGOMAN_TILES)
constexpr bool in_tiles = true;
constexpr int64_t steps_together =
    tile_side;  // of a row of a's block: the last ones are filled up with zeros
#else
constexpr bool in_tiles = false;
constexpr int64_t steps_together = lanes;
inline void begin_tiles() {}
inline void end_tiles() {}
#endif

// How a block of a is laid out before its tiles read it: in rows (a little further apart than their length, lest
// all of a tile's rows fall into the same set of the cache), or the rows of one tile side by side for each step of
// the inner index, where a itself is a transpose. Either is a plain copy of whole vectors, except for rounding.
constexpr int64_t row_of_block = block_depth + 16;
constexpr int64_t tile_row_group = (tile_rows + lanes - 1) / lanes * lanes;

template <bool by_depth>
constexpr int64_t a_row_step = by_depth ? 1 : row_of_block;
template <bool by_depth>
constexpr int64_t a_depth_step = by_depth ? tile_row_group : 1;

// Part of a packed row of b, which is aligned to 16 bytes at least: without AVX only such operands fold into others.
inline Vec load_packed(const float* p) { return lanes == 4 ? *reinterpret_cast<const Vec*>(p) : load(p); }

// Element i of a tile's column of a, in all lanes.
template <bool by_depth>
[[gnu::always_inline]] inline Vec broadcast(const float* a, int i) {
#if defined(__SSE2__) && !defined(__AVX2__)
  if constexpr (by_depth) {  // the four rows are one aligned vector, and this is one instruction less
    const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i*>(a));
    switch (i) {
      case 0:
        return reinterpret_cast<Vec>(_mm_shuffle_epi32(four, 0x00));
      case 1:
        return reinterpret_cast<Vec>(_mm_shuffle_epi32(four, 0x55));
      case 2:
        return reinterpret_cast<Vec>(_mm_shuffle_epi32(four, 0xaa));
      default:
        return reinterpret_cast<Vec>(_mm_shuffle_epi32(four, 0xff));
    }
  }
#endif
  return all(a[i * a_row_step<by_depth>]);
}

struct Tile {
  int64_t depth;  // how many steps of the inner index
  const float* a;
  const float* b;  // panels of tile_columns: [depth][tile_columns], one after the other
  float* c;
  int64_t c_stride;
  int64_t columns;        // of c, up to panels * tile_columns
  bool from_zero;         // else the sums go on from what c holds
  const float* upcoming;  // what is needed next is fetched meanwhile: this, and so much further on
  int64_t upcoming_step;  // for each step
};

template <class Kind, int rows, int panels, bool by_depth>
void multiply_tile(const Tile& tile) {
  constexpr int vectors = panels * tile_vectors;
  Vec sums[rows][vectors];
  const bool whole = tile.columns >= vectors * lanes;
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < vectors; ++j) {
      const float* p = tile.c + i * tile.c_stride + j * lanes;
      const int64_t left = tile.columns - j * lanes;
      sums[i][j] = Vec{};
      if (!tile.from_zero && left > 0) sums[i][j] = whole ? load(p) : load_some(p, left);
    }
  }
  for (int i = 0; i < rows; ++i) {  // the tile below this one is next
    for (int j = 0; j < vectors; ++j) __builtin_prefetch(tile.c + (rows + i) * tile.c_stride + j * lanes, 1);
  }
  const float* a = tile.a;
  const float* b = tile.b;
  const int64_t panel_step = tile.depth * tile_columns;
  const float* upcoming = tile.upcoming;
  for (int64_t k = 0; k < tile.depth; ++k) {
    for (int64_t j = 0; j < tile_columns; j += 16) __builtin_prefetch(upcoming + j, 0, 2);
    upcoming += tile.upcoming_step;
    Vec b_row[vectors];
#pragma GCC unroll 16
    for (int j = 0; j < vectors; ++j)
      b_row[j] = load_packed(b + j / tile_vectors * panel_step + j % tile_vectors * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Vec a_element = broadcast<by_depth>(a, i);
#pragma GCC unroll 16
      for (int j = 0; j < vectors; ++j) sums[i][j] = Kind::multiply_add(a_element, b_row[j], sums[i][j]);
    }
    a += a_depth_step<by_depth>;
    b += tile_columns;
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < vectors; ++j) {
      float* p = tile.c + i * tile.c_stride + j * lanes;
      const int64_t left = tile.columns - j * lanes;
      if (whole) {
        store(p, sums[i][j]);
      } else if (left > 0) {
        store_some(p, sums[i][j], left);
      }
    }
  }
}

// A tile of few rows has too few sums to keep the multipliers busy: it takes several panels at once.
constexpr int64_t panels_at_once(int64_t rows) {
  if (in_tiles) return 1;
  constexpr int64_t most = lanes == 16 ? 2 : 4;
  return rows == 1 ? most : rows <= 3 ? 2 : 1;
}

#if defined(DRAGOMAN_TILES)
template <class Kind, bool by_depth>
void multiply_rows(int64_t row_count, bool /*at_once*/, const Tile& tile) {
  static_assert(!by_depth && Kind::inner_of_step == 2);
  multiply_in_tiles<row_of_block, tile_columns>(row_count, tile);
}
#else
// The tile for this number of rows, over one panel or (at_once) panels_at_once(rows) of them.
template <class Kind, bool by_depth, int rows = tile_rows>
void multiply_rows(int64_t row_count, bool at_once, const Tile& tile) {
  if (row_count == rows) {
    if (at_once) {
      multiply_tile<Kind, rows, panels_at_once(rows), by_depth>(tile);
    } else {
      multiply_tile<Kind, rows, 1, by_depth>(tile);
    }
  } else if constexpr (rows > 1) {
    multiply_rows<Kind, by_depth, rows - 1>(row_count, at_once, tile);
  }
}
#endif

}  // namespace
}  // namespace dragoman::internal
