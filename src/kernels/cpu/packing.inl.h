// How a product's operands are laid out before its tiles read them: as words, each of which is one step along the
// inner index (product_arithmetic.inl.h). Where a block begins and how deep it is, is counted in steps.
//
// The right operand: blocks of block_depth steps; in each, panels of tile_columns columns, the last one padded
// with zeros; in a panel, the words of one step side by side. So a task that works on some columns reads each block
// as one stream. The left operand: see microkernel.inl.h.
#pragma once

#include <stdint.h>

#include "kernels/cpu/microkernel.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

inline int64_t panel_count(int64_t columns) { return ceil_div(columns, tile_columns); }

template <class Kind>
int64_t steps_of(int64_t inner) {
  return Kind::steps(inner);
}

// --- the right operand ----------------------------------------------------------------------------

inline int64_t packed_size(int64_t steps, int64_t columns) {
  return steps * panel_count(columns) * tile_columns;
}

// The block that begins at step `begin`. Its panels are depth * tile_columns floats each.
template <class Float>
Float* packed_block(Float* packed, int64_t columns, int64_t begin) {
  return packed + begin * panel_count(columns) * tile_columns;
}

// Rows of b are contiguous: each is cut into the panels' rows. `inner` indices and `columns` are left from b on.
template <class Kind>
void pack_rows(const float* b, int64_t stride, int64_t inner, int64_t columns, int64_t depth, int64_t panels,
               float* packed) {
  for (int64_t k = 0; k < depth; ++k, b += Kind::inner_of_step * stride, inner -= Kind::inner_of_step) {
    for (int64_t panel = 0; panel < panels; ++panel) {
      const float* from = b + panel * tile_columns;
      float* to = packed + (panel * depth + k) * tile_columns;
      for (int64_t j = 0; j < tile_columns; j += lanes) {
        const int64_t left = columns - panel * tile_columns - j;
        store(to + j, left > 0 ? Kind::across(from + j, stride, inner, left) : Vec{});
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
template <class Kind>
void pack_columns(const float* b, int64_t stride, int64_t inner, int64_t columns, int64_t depth,
                  float* packed) {
  for (int64_t j = 0; j < tile_columns; j += lanes) {
    for (int64_t k = 0; k < depth; k += lanes) {
      const int64_t first = k * Kind::inner_of_step;
      Vec square[lanes];
      for (int64_t i = 0; i < lanes; ++i) {
        square[i] = j + i < columns ? Kind::along(b + (j + i) * stride + first, inner - first) : Vec{};
      }
      transpose(square);
      for (int64_t i = 0; i < lanes && k + i < depth; ++i)
        store(packed + (k + i) * tile_columns + j, square[i]);
    }
  }
}

// The inner indices of the block that begins at step `begin`, and how many steps they are.
struct Block {
  int64_t first, count, depth;
};

template <class Kind>
Block block_at(int64_t begin, int64_t inner) {
  const int64_t first = begin * Kind::inner_of_step;
  const int64_t count = smaller(block_depth * Kind::inner_of_step, inner - first);
  return {.first = first, .count = count, .depth = steps_of<Kind>(count)};
}

// Panels [first, end) of the block that begins at step `begin`. block: where this block stands.
template <class Kind>
void pack_panels(const ConstMatrix& b, int64_t begin, int64_t first, int64_t end, float* block) {
  const Block inner = block_at<Kind>(begin, b.rows);
  const int64_t columns = b.columns - first * tile_columns;
  const float* from = b.data + inner.first * b.row_stride + first * tile_columns * b.column_stride;
  float* to = block + first * inner.depth * tile_columns;
  if (b.column_stride == 1) {
    pack_rows<Kind>(from, b.row_stride, inner.count, columns, inner.depth, end - first, to);
    return;
  }
  for (int64_t panel = 0; panel < end - first; ++panel) {
    pack_columns<Kind>(from + panel * tile_columns * b.column_stride, b.column_stride, inner.count,
                       columns - panel * tile_columns, inner.depth, to + panel * tile_columns * inner.depth);
  }
}

// What one task packs of a block: some of its panels.
constexpr int64_t panels_of_piece = 8;
inline int64_t pieces_of_block(int64_t columns) { return ceil_div(panel_count(columns), panels_of_piece); }

template <class Kind>
void pack_piece(const ConstMatrix& b, int64_t begin, int64_t piece, float* block) {
  const int64_t first = piece * panels_of_piece;
  pack_panels<Kind>(b, begin, first, smaller(panel_count(b.columns), first + panels_of_piece), block);
}

template <class Kind>
void pack(Context& context, ConstMatrix b, float* packed) {
  const int64_t pieces = pieces_of_block(b.columns);
  for_each_task(context, pieces * ceil_div(steps_of<Kind>(b.rows), block_depth), [&](int64_t task, int) {
    const int64_t begin = task / pieces * block_depth;
    pack_piece<Kind>(b, begin, task % pieces, packed_block(packed, b.columns, begin));
  });
}

// --- the left operand -----------------------------------------------------------------------------

// Floats from one tile's block to the next. The transposed layout's is not a multiple of a page either.
template <bool by_depth>
constexpr int64_t a_tile_step = by_depth ? block_depth* tile_row_group + 16 : tile_rows* row_of_block;

// What is copied comes in short pieces: they are prefetched a few pieces ahead.
constexpr int64_t pieces_ahead = 4;

// The last vectors of a row are written whole: row_of_block has the room.
template <class Kind>
void copy_a_rows(const float* a, int64_t stride, int64_t rows, int64_t inner, float* block) {
  constexpr int64_t of_vector = lanes * Kind::inner_of_step, together = steps_together * Kind::inner_of_step;
  const int64_t end = ceil_div(inner, together) * together;
  for (int64_t i = 0; i < rows; ++i) {
    const float* from = a + i * stride;
    const float* later = i + pieces_ahead < rows ? from + pieces_ahead * stride : from;
    float* to = block + i * row_of_block;
    for (int64_t k = 0; k < end; k += of_vector, to += lanes) {
      for (int64_t ahead = 0; ahead < of_vector; ahead += 16) __builtin_prefetch(later + k + ahead);
      store(to, in_tiles && k >= inner ? Vec{} : Kind::along(from + k, inner - k));
    }
  }
}

// a is a transpose, and its block is not: AMX reads rows.
template <class Kind>
void turn_a_columns(const float* a, int64_t stride, int64_t rows, int64_t inner, float* block) {
  const int64_t end = ceil_div(steps_of<Kind>(inner), steps_together) * steps_together;
  for (int64_t i = 0; i < rows; i += lanes) {
    for (int64_t step = 0; step < end; step += lanes) {
      Vec square[lanes];
      for (int64_t s = 0; s < lanes; ++s) {
        const int64_t k = (step + s) * Kind::inner_of_step;
        square[s] = k < inner ? Kind::across(a + k * stride + i, stride, inner - k, rows - i) : Vec{};
      }
      transpose(square);
      for (int64_t j = 0; j < lanes && i + j < rows; ++j)
        store(block + (i + j) * row_of_block + step, square[j]);
    }
  }
}

// a is a transpose: `stride` floats from one inner index to the next.
template <class Kind>
void copy_a_columns(const float* a, int64_t stride, int64_t rows, int64_t inner, float* block) {
  const int64_t end = steps_of<Kind>(inner) * Kind::inner_of_step;
  for (int64_t k = 0; k < end; k += Kind::inner_of_step, block += tile_row_group) {
    const float* from = a + k * stride;
    const float* later = k + pieces_ahead < inner ? from + pieces_ahead * stride : from;
    float* to = block;
    for (int64_t i = 0; i < rows; i += tile_rows, to += a_tile_step<true>) {
      const int64_t of_tile = smaller(tile_rows, rows - i);
      __builtin_prefetch(later + i);
      for (int64_t j = 0; j < of_tile; j += lanes)
        store(to + j, Kind::across(from + i + j, stride, inner - k, of_tile - j));
    }
  }
}

// Rows [row, row + rows) of a, the block of its inner indices that begins at step `begin`.
template <class Kind, bool by_depth>
void copy_a(const ConstMatrix& a, int64_t row, int64_t rows, int64_t begin, float* block) {
  const Block inner = block_at<Kind>(begin, a.columns);
  const float* from = a.data + row * a.row_stride + inner.first * a.column_stride;
  if constexpr (by_depth) {
    copy_a_columns<Kind>(from, a.column_stride, rows, inner.count, block);
  } else if (in_tiles && a.column_stride != 1) {
    turn_a_columns<Kind>(from, a.column_stride, rows, inner.count, block);
  } else {
    copy_a_rows<Kind>(from, a.row_stride, rows, inner.count, block);
  }
}

}  // namespace
}  // namespace dragoman::internal
