// Products within a task, on its worker alone: for kernels that work through many small matrices.
//
// The same sums as those of products.inl.h, from the same parts. Memory comes from the caller.
#pragma once

#include <stdint.h>

#include "kernels/cpu/packing.inl.h"
#include "kernels/cpu/products.inl.h"

namespace dragoman::internal {
namespace {

constexpr int64_t single_thread_rows = in_tiles ? 64 : 84;  // of a at a time: a multiple of every tile_rows

template <class Kind = Singles>
void pack_single_thread(ConstMatrix b, float* packed) {
  for (int64_t begin = 0; begin < steps_of<Kind>(b.rows); begin += block_depth) {
    pack_panels<Kind>(b, begin, 0, panel_count(b.columns), packed_block(packed, b.columns, begin));
  }
}

// Floats that multiply_single_thread needs for a's part.
inline int64_t single_thread_block_size() {
  return ceil_div(single_thread_rows, tile_rows) * larger(a_tile_step<true>, a_tile_step<false>);
}

template <class Kind, bool by_depth>
void multiply_single_thread(const Product& product, float* block) {
  const Matrix& c = product.c;
  for (int64_t row = 0; row < c.rows; row += single_thread_rows) {
    const Part part = {row, smaller(single_thread_rows, c.rows - row), 0, c.columns};
    for (int64_t begin = 0; begin == 0 || begin < steps_of<Kind>(product.b.rows); begin += block_depth) {
      copy_a<Kind, by_depth>(product.a, part.first_row, part.rows, begin, block);
      multiply_block<Kind, by_depth>(product, part, begin, block,
                                     packed_block(product.packed, c.columns, begin));
    }
  }
}

// c = a·b or c + a·b. block: single_thread_block_size() floats.
template <class Kind = Singles>
void multiply_single_thread(ConstMatrix a, PackedMatrix b, Matrix c, bool accumulate, float* block) {
  const Epilogue epilogue = {.accumulate = accumulate};
  const Product product = product_with_packed(a, b, c, epilogue);
  if constexpr (!in_tiles) {
    if (a.column_stride != 1) return multiply_single_thread<Kind, true>(product, block);
  }
  multiply_single_thread<Kind, false>(product, block);
}

}  // namespace
}  // namespace dragoman::internal
