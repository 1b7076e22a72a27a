// The arithmetic of products of floats, once for each precision of the operands. products.inl.h holds the loops.
//
// Operands are packed as words of 32 bits, and a word is what one step along the inner index takes of a row or a
// column: a float (Singles), or two numbers that are rounded to bf16 meanwhile (Pairs), the earlier one in the lower
// half, and 0 in the upper half of the last word where their number is odd. A kind says how words come about and how
// they are multiplied.
//
// Pairs: first the product of the upper halves is added to the sum, then that of the lower ones, each rounded as a
// float, which is what AVX512_BF16's instruction does. Without it the same is done with floats: products of bf16 are
// exact in them, so that every instruction set computes the same bits, fused or not. (Below 2^-126 they do not: the
// instruction takes such numbers for 0.) AMX multiplies the same words in an order of its own (tiles.inl.h).
#pragma once

#include <stdint.h>

#include "kernels/cpu/bf16.inl.h"
#include "kernels/cpu/simd.h"

namespace dragoman::internal {
namespace {

struct Singles {
  static constexpr int64_t inner_of_step = 1;

  // `lanes` steps of a row whose numbers lie side by side; `left` of these are there.
  static Vec along(const float* row, int64_t left) { return load_some(row, left); }

  // One step of `lanes` columns, of which `left` are there. `depth` inner indices are, each a stride further on.
  static Vec across(const float* row, int64_t /*stride*/, int64_t /*depth*/, int64_t left) {
    return load_some(row, left);
  }

  static Vec multiply_add(Vec a, Vec b, Vec sum) { return dragoman::internal::multiply_add(a, b, sum); }
};

struct Pairs {
  static constexpr int64_t inner_of_step = 2;

  static Vec along(const float* row, int64_t left) {
    return bf16_side_by_side(load_some(row, left),
                             left > lanes ? load_some(row + lanes, left - lanes) : Vec{});
  }

  static Vec across(const float* row, int64_t stride, int64_t depth, int64_t left) {
    return bf16_in_pairs(load_some(row, left), depth > 1 ? load_some(row + stride, left) : Vec{});
  }

  static Vec multiply_add(Vec a, Vec b, Vec sum) {
#if defined(__AVX512BF16__)
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
#else
    sum = dragoman::internal::multiply_add(upper_halves(a), upper_halves(b), sum);
    return dragoman::internal::multiply_add(lower_halves(a), lower_halves(b), sum);
#endif
  }
};

}  // namespace
}  // namespace dragoman::internal
