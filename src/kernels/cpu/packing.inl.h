// How a product's operands are laid out before its tiles read them.
//
// The right operand: blocks of block_depth inner indices; in each, panels of tile_columns columns, the last one
// filled up with zeros; in a panel, the elements of one inner index side by side. So a task that works on some
// columns reads each block as one stream. The left operand: see microkernel.inl.h.
#pragma once

#include <stdint.h>

#include "kernels/cpu/microkernel.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman {
namespace {

inline int64_t panel_count(int64_t columns) { return ceil_div(columns, tile_columns); }

// --- the right operand ----------------------------------------------------------------------------

inline int64_t packed_size(int64_t rows, int64_t columns) {
  return rows * panel_count(columns) * tile_columns;
}

// The block that begins at inner index `begin`. Its panels are depth * tile_columns floats each.
template <class Float>
Float* packed_block(Float* packed, int64_t columns, int64_t begin) {
  return packed + begin * panel_count(columns) * tile_columns;
}

// Rows of b are contiguous: each is cut into the panels' rows. `columns` are left from b on.
inline void pack_rows(const float* b, int64_t stride, int64_t depth, int64_t columns, int64_t panels,
                      float* packed) {
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t panel = 0; panel < panels; ++panel) {
      const float* from = b + k * stride + panel * tile_columns;
      float* to = packed + (panel * depth + k) * tile_columns;
      for (int64_t j = 0; j < tile_columns; j += lanes) {
        const int64_t left = columns - panel * tile_columns - j;
        store(to + j, left > 0 ? load_some(from + j, left) : Vec{});
      }
    }
  }
}

#if defined(__AVX512F__)
inline Vec low_halves(Vec a, Vec b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
inline Vec high_halves(Vec a, Vec b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
#elif defined(__AVX2__)
inline Vec low_halves(Vec a, Vec b) { return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
inline Vec high_halves(Vec a, Vec b) { return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }
#else
inline Vec low_halves(Vec a, Vec b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
inline Vec high_halves(Vec a, Vec b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
#endif

// A square of lanes × lanes: rows become columns. Each step deals the two halves out alternately, like cards.
inline void transpose(Vec* rows) {
#pragma GCC unroll 4
  for (int step = 1; step < lanes; step *= 2) {
    Vec dealt[lanes];
#pragma GCC unroll 16
    for (int i = 0; i < lanes / 2; ++i) {
      dealt[2 * i] = low_halves(rows[i], rows[i + lanes / 2]);
      dealt[2 * i + 1] = high_halves(rows[i], rows[i + lanes / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) rows[i] = dealt[i];
  }
}

// Columns of b are contiguous: `columns` of them, at most tile_columns, become one panel.
inline void pack_columns(const float* b, int64_t stride, int64_t depth, int64_t columns, float* packed) {
  for (int64_t j = 0; j < tile_columns; j += lanes) {
    for (int64_t k = 0; k < depth; k += lanes) {
      Vec square[lanes];
      for (int64_t i = 0; i < lanes; ++i) {
        square[i] = j + i < columns ? load_some(b + (j + i) * stride + k, depth - k) : Vec{};
      }
      transpose(square);
      for (int64_t i = 0; i < lanes && k + i < depth; ++i)
        store(packed + (k + i) * tile_columns + j, square[i]);
    }
  }
}

// Panels [first, end) of the block of inner indices that begins at `begin`. block: where this block stands.
inline void pack_panels(const ConstMatrix& b, int64_t begin, int64_t first, int64_t end, float* block) {
  const int64_t depth = smaller(block_depth, b.rows - begin), columns = b.columns - first * tile_columns;
  const float* from = b.data + begin * b.row_stride + first * tile_columns * b.column_stride;
  float* to = block + first * depth * tile_columns;
  if (b.column_stride == 1) {
    pack_rows(from, b.row_stride, depth, columns, end - first, to);
    return;
  }
  for (int64_t panel = 0; panel < end - first; ++panel) {
    pack_columns(from + panel * tile_columns * b.column_stride, b.column_stride, depth,
                 columns - panel * tile_columns, to + panel * tile_columns * depth);
  }
}

// What one task packs of a block: some of its panels.
constexpr int64_t panels_of_piece = 8;
inline int64_t pieces_of_block(int64_t columns) { return ceil_div(panel_count(columns), panels_of_piece); }

inline void pack_piece(const ConstMatrix& b, int64_t begin, int64_t piece, float* block) {
  const int64_t first = piece * panels_of_piece;
  pack_panels(b, begin, first, smaller(panel_count(b.columns), first + panels_of_piece), block);
}

inline void pack(Context& context, ConstMatrix b, float* packed) {
  const int64_t pieces = pieces_of_block(b.columns);
  for_each_task(context, pieces * ceil_div(b.rows, block_depth), [&](int64_t task, int) {
    const int64_t begin = task / pieces * block_depth;
    pack_piece(b, begin, task % pieces, packed_block(packed, b.columns, begin));
  });
}

// --- the left operand -----------------------------------------------------------------------------

// Floats from one tile's block to the next. The transposed layout's is not a multiple of a page either.
template <bool by_depth>
constexpr int64_t a_tile_step = by_depth ? block_depth* tile_row_group + 16 : tile_rows* row_of_block;

// What is to be copied lies in short pieces: they are asked for a few pieces ahead.
constexpr int64_t pieces_ahead = 4;

inline void copy_a_rows(const float* a, int64_t stride, int64_t rows, int64_t depth, float* block) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* from = a + i * stride;
    const float* later = i + pieces_ahead < rows ? from + pieces_ahead * stride : from;
    float* to = block + i * row_of_block;
    int64_t k = 0;
    for (; k + lanes <= depth; k += lanes) {
      __builtin_prefetch(later + k);
      store(to + k, load(from + k));
    }
    if (k < depth) store_first(to + k, load_first(from + k, depth - k), depth - k);
  }
}

// a is a transpose: `stride` floats from one inner index to the next.
inline void copy_a_columns(const float* a, int64_t stride, int64_t rows, int64_t depth, float* block) {
  for (int64_t k = 0; k < depth; ++k) {
    const float* from = a + k * stride;
    const float* later = k + pieces_ahead < depth ? from + pieces_ahead * stride : from;
    float* to = block + k * tile_row_group;
    for (int64_t i = 0; i < rows; i += tile_rows, to += a_tile_step<true>) {
      const int64_t of_tile = smaller(tile_rows, rows - i);
      __builtin_prefetch(later + i);
      for (int64_t j = 0; j < of_tile; j += lanes) store(to + j, load_some(from + i + j, of_tile - j));
    }
  }
}

// Rows [row, row + rows) of a, its inner indices from `begin` to the end of that block.
template <bool by_depth>
void copy_a(const ConstMatrix& a, int64_t row, int64_t rows, int64_t begin, float* block) {
  const float* from = a.data + row * a.row_stride + begin * a.column_stride;
  const int64_t depth = smaller(block_depth, a.columns - begin);
  if constexpr (by_depth) {
    copy_a_columns(from, a.column_stride, rows, depth, block);
  } else {
    copy_a_rows(from, a.row_stride, rows, depth, block);
  }
}

}  // namespace
}  // namespace dragoman
