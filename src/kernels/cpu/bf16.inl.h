// bf16: the upper 16 bits of a float. A word of 32 bits holds two of them.
#pragma once

#include <stdint.h>

#include "kernels/cpu/simd.h"

namespace dragoman::internal {
namespace {

// Rounds 32-bit floats: to the nearest, ties to even; NaN stays NaN.
inline Words to_bf16(Vec x) {
  const Words bits = reinterpret_cast<Words>(x);
  const Words rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return x == x ? rounded : bits >> 16 | 0x40;
}

inline Vec lower_halves(Vec words) { return reinterpret_cast<Vec>(reinterpret_cast<Words>(words) << 16); }
inline Vec upper_halves(Vec words) {
  return reinterpret_cast<Vec>(reinterpret_cast<Words>(words) & 0xffff0000u);
}

inline Vec rounded_to_bf16(Vec x) { return reinterpret_cast<Vec>(to_bf16(x) << 16); }

inline Vec with_halves_exchanged(Vec words) {
  const Words bits = reinterpret_cast<Words>(words);
  return reinterpret_cast<Vec>(bits << 16 | bits >> 16);
}

#if defined(__AVX512BF16__)

// All of `first`, then all of `second`: neighbours become pairs.
inline Vec bf16_side_by_side(Vec first, Vec second) {
  return reinterpret_cast<Vec>(_mm512_cvtne2ps_pbh(second, first));
}

// Each lane of `first` beside that of `second`.
inline Vec bf16_in_pairs(Vec first, Vec second) {
  typedef uint16_t Halves __attribute__((vector_size(4 * lanes)));
  const Halves all = reinterpret_cast<Halves>(bf16_side_by_side(first, second));
  return reinterpret_cast<Vec>(__builtin_shufflevector(all, all, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6,
                                                       22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                                       29, 14, 30, 15, 31));
}

#else

inline Vec bf16_side_by_side(Vec first, Vec second) {
  typedef uint16_t Halves __attribute__((vector_size(2 * lanes)));
  const Halves both[2] = {__builtin_convertvector(to_bf16(first), Halves),
                          __builtin_convertvector(to_bf16(second), Halves)};
  Vec words;
  __builtin_memcpy(&words, both, sizeof words);
  return words;
}

inline Vec bf16_in_pairs(Vec first, Vec second) {
  return reinterpret_cast<Vec>(to_bf16(first) | to_bf16(second) << 16);
}

#endif

}  // namespace
}  // namespace dragoman::internal
