// The arithmetic of products in fewer bits, once for each kind of processor. narrow.inl.h holds the loops.
//
// A kind says how a row of a is copied (Left: what one line of b meets of it), what it loads of a line at a time
// (Right: `columns` columns), how the two are multiplied and added up (Sum), and what comes out in the end (`lanes`
// columns from one or two sums).
//
//   Int8   with VNNI        4 bytes of a times 4 of b, added to 32 bits, for each column
//          otherwise        both are widened to 16 bits, whose products are added in pairs (pmaddwd): nothing
//                           saturates, as it would with 8 bits times 8 bits
//   Bf16   with AVX512_BF16 2 numbers of a times 2 of b, added to a float
//          otherwise        both are widened to floats
#pragma once

#include <stdint.h>

#include "kernels/cpu/bf16.inl.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman {
namespace {

#if defined(__AVX512VNNI__)

struct Int8 {
  static constexpr Precision precision = Precision::int8;
  static constexpr int64_t inner_of_line = 4, columns = 16, sums_of_result = 1;
  typedef int8_t Element;  // of a row of a
  typedef int32_t Left;    // 4 of them
  typedef __m512i Right;
  typedef __m512i Sum;

  static Right load(const unsigned char* p) { return _mm512_loadu_si512(p); }
  static Sum multiply_add(Left a, Right b, Sum sum) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(b), "v"(_mm512_set1_epi32(a)));
    return sum;
  }
  static Ints result(Sum sum) { return reinterpret_cast<Ints>(sum); }
};

#else

struct Int8 {
  static constexpr Precision precision = Precision::int8;
  static constexpr int64_t inner_of_line = 4, columns = lanes / 2, sums_of_result = 2;
  typedef int16_t Element;
  typedef int64_t Left;
  typedef int16_t Right __attribute__((vector_size(4 * lanes)));
  typedef Ints Sum;  // two for each column: of its first and its last two products

#if defined(__AVX512F__)
  static Right load(const unsigned char* p) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return reinterpret_cast<Right>(_mm512_cvtepu8_epi16(bytes));
  }
  static Sum multiply_add(Left a, Right b, Sum sum) {
    return sum + reinterpret_cast<Sum>(_mm512_madd_epi16(_mm512_set1_epi64(a), reinterpret_cast<__m512i>(b)));
  }
#elif defined(__AVX2__)
  static Right load(const unsigned char* p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return reinterpret_cast<Right>(_mm256_cvtepu8_epi16(bytes));
  }
  static Sum multiply_add(Left a, Right b, Sum sum) {
    return sum +
           reinterpret_cast<Sum>(_mm256_madd_epi16(_mm256_set1_epi64x(a), reinterpret_cast<__m256i>(b)));
  }
#elif defined(__SSE2__)
  static Right load(const unsigned char* p) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    return reinterpret_cast<Right>(_mm_unpacklo_epi8(bytes, _mm_setzero_si128()));
  }
  static Sum multiply_add(Left a, Right b, Sum sum) {
    return sum + reinterpret_cast<Sum>(_mm_madd_epi16(_mm_set1_epi64x(a), reinterpret_cast<__m128i>(b)));
  }
#else
  static Right load(const unsigned char* p) {
    Right wide;
    for (int i = 0; i < 2 * lanes; ++i) wide[i] = p[i];
    return wide;
  }
  static Sum multiply_add(Left a, Right b, Sum sum) {
    int16_t four[4];
    __builtin_memcpy(four, &a, sizeof four);
    for (int i = 0; i < lanes; ++i) {
      const int k = i % 2 * 2;
      sum[i] += four[k] * b[2 * i] + four[k + 1] * b[2 * i + 1];
    }
    return sum;
  }
#endif

  static Ints result(Sum low, Sum high) {
#if defined(__AVX512F__)
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
           __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
#elif defined(__AVX2__)
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14) +
           __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
#else
    return __builtin_shufflevector(low, high, 0, 2, 4, 6) + __builtin_shufflevector(low, high, 1, 3, 5, 7);
#endif
  }
};

#endif

#if defined(__AVX512BF16__)

struct Bf16 {
  static constexpr Precision precision = Precision::bf16;
  static constexpr int64_t inner_of_line = 2, columns = 16, sums_of_result = 1;
  typedef uint16_t Element;
  typedef int32_t Left;
  typedef __m512i Right;
  typedef Vec Sum;

  static Right load(const unsigned char* p) { return _mm512_loadu_si512(p); }
  static Sum multiply_add(Left a, Right b, Sum sum) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(_mm512_set1_epi32(a)),
                            reinterpret_cast<__m512bh>(b));
  }
  static Vec result(Sum sum) { return sum; }
};

#else

struct Bf16 {
  static constexpr Precision precision = Precision::bf16;
  static constexpr int64_t inner_of_line = 2, columns = lanes, sums_of_result = 1;
  typedef float Element;
  struct Left {
    float low, high;
  };
  struct Right {
    Vec low, high;
  };
  typedef Vec Sum;

  static Right load(const unsigned char* p) {
    Words words;
    __builtin_memcpy(&words, p, sizeof words);
    return {reinterpret_cast<Vec>(words << 16), reinterpret_cast<Vec>(words & 0xffff0000u)};
  }
  static Sum multiply_add(Left a, Right b, Sum sum) {
    return dragoman::multiply_add(all(a.high), b.high, dragoman::multiply_add(all(a.low), b.low, sum));
  }
  static Vec result(Sum sum) { return sum; }
};

#endif

}  // namespace
}  // namespace dragoman
