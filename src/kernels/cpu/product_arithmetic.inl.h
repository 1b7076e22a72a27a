// The arithmetic of products of floats, once for each precision of the operands. products.inl.h holds the loops.
//
// Operands are packed as words of 32 bits, and a word is what one step along the inner index takes of a row or a
// column: a float (Singles, RoundedSingles) or two of them in bf16 (Pairs). A kind defines how words are packed and
// multiplied.
//
// In bf16 both operands are rounded as they are packed. Products of bf16 are exact in floats, and every kind adds them
// up in the order of the inner index, each sum rounded to a float: the bits are the same (except that AVX512_BF16's
// instruction treats numbers below 2^-126 as 0), and which kind is faster depends on the processor. AMX alone adds in
// an order of its own (tiles.inl.h).
#pragma once

#include <stdint.h>

#include "kernels/cpu/bf16.inl.h"
#include "kernels/cpu/simd.h"

namespace dragoman::internal {
namespace {

struct Singles {
  static constexpr int64_t inner_of_step = 1;
  static int64_t steps(int64_t inner) { return inner; }

  // `lanes` steps of a row whose numbers lie side by side; `left` of these are there.
  static Vec along(const float* row, int64_t left) { return load_some(row, left); }

  // One step of `lanes` columns, of which `left` are there. `depth` inner indices are, each a stride further on.
  static Vec across(const float* row, int64_t /*stride*/, int64_t /*depth*/, int64_t left) {
    return load_some(row, left);
  }

  static Vec multiply_add(Vec a, Vec b, Vec sum) { return dragoman::internal::multiply_add(a, b, sum); }
};

// bf16 as floats whose lower halves are zeros: as fast as Singles. Steps are an even number, as those of Pairs are: one
// more product of zeros turns a sum of -0 into 0.
struct RoundedSingles {
  static constexpr int64_t inner_of_step = 1;
  static int64_t steps(int64_t inner) { return (inner + 1) / 2 * 2; }

  static Vec along(const float* row, int64_t left) { return rounded_to_bf16(load_some(row, left)); }

  static Vec across(const float* row, int64_t /*stride*/, int64_t depth, int64_t left) {
    return depth > 0 ? rounded_to_bf16(load_some(row, left)) : Vec{};
  }

  static Vec multiply_add(Vec a, Vec b, Vec sum) { return dragoman::internal::multiply_add(a, b, sum); }
};

// A word holds the earlier number in its upper half, whose product the instruction adds first, and the later one, or 0
// where their number is odd, in the lower half.
struct Pairs {
  static constexpr int64_t inner_of_step = 2;
  static int64_t steps(int64_t inner) { return (inner + 1) / 2; }

  static Vec along(const float* row, int64_t left) {
    return with_halves_exchanged(
        bf16_side_by_side(load_some(row, left), left > lanes ? load_some(row + lanes, left - lanes) : Vec{}));
  }

  static Vec across(const float* row, int64_t stride, int64_t depth, int64_t left) {
    return bf16_in_pairs(depth > 1 ? load_some(row + stride, left) : Vec{}, load_some(row, left));
  }

#if defined(__AVX512BF16__)
  static Vec multiply_add(Vec a, Vec b, Vec sum) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
  }
#endif
};

// What the instruction set has for bf16.
#if defined(__AVX512BF16__) || defined(DRAGOMAN_TILES)
using RoundedFloats = Pairs;
constexpr bool has_bf16_instructions = true;
#else
using RoundedFloats = RoundedSingles;
constexpr bool has_bf16_instructions = false;
#endif

}  // namespace
}  // namespace dragoman::internal
