// The arithmetic of low-precision products, once for each kind of processor. low_precision.inl.h holds the loops.
//
// A kind defines how a row of a is copied (Left: the part multiplied with one line of b), what it loads of a line at
// a time (Right: `columns` columns), how the two are multiplied and added up (Sum), and how many rows and vectors of
// columns a tile has. Where it `widens_ahead`, what it loads was made from the line before, for all rows to come.
//
//   Int8   with VNNI        4 bytes of a times 4 of b, added to 32 bits, for each column
//          otherwise        both are widened to 16 bits, whose products are added in pairs (pmaddwd): nothing
//                           saturates, as it would with 8 bits times 8 bits
//          of many rows     with AMX a tile at a time (tiles.inl.h)
//   Bf16   with AMX         a tile at a time
//          with AVX512_BF16 2 numbers of a times 2 of b, added to a float
//          otherwise        both are widened to floats
#pragma once

#include <stdint.h>

#include "kernels/cpu/bf16.inl.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"
#if defined(DRAGOMAN_TILES)
#include "kernels/cpu/tiles.inl.h"
#endif

namespace dragoman::internal {
namespace {

// Unsigned, since what NaN was rounded to wraps.
inline Words times_128(Ints steps) { return reinterpret_cast<Words>(steps) * 128; }

#if defined(__AVX512VNNI__)

struct Int8 {
  static constexpr Precision precision = Precision::int8;
  static constexpr int64_t inner_of_line = 4, columns = 16;
  static constexpr int tile_rows = 12, tile_vectors = 2;
  static constexpr bool widens_ahead = false;
  typedef int8_t Element;  // of a row of a
  typedef int32_t Left;    // 4 of them
  typedef __m512i Right;
  typedef __m512i Sum;

  static Right load(const unsigned char* p) { return _mm512_loadu_si512(p); }
  static Sum multiply_add(Left a, Right b, Sum sum) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(b), "v"(_mm512_set1_epi32(a)));
    return sum;
  }
  static Words result(Sum sum) { return reinterpret_cast<Words>(sum); }
  static Ints in_order(Ints steps) { return steps; }
  static Words offset(Ints steps) { return times_128(steps); }
};

typedef Int8 Int8ManyRows;

#elif defined(__AVX512F__)

struct Int8 {
  static constexpr Precision precision = Precision::int8;
  static constexpr int64_t inner_of_line = 4, columns = 16;
  static constexpr int tile_rows = 12, tile_vectors = 1;
  static constexpr bool widens_ahead = false;
  typedef int16_t Element;
  typedef int64_t Left;
  struct Right {  // 8 columns each
    __m512i low, high;
  };
  typedef Right Sum;  // two for each column: of its first and its last two products

  static __m512i widened(const unsigned char* p) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static Right load(const unsigned char* p) { return {widened(p), widened(p + 32)}; }
  static Sum multiply_add(Left a, Right b, Sum sum) {
    const __m512i four = _mm512_set1_epi64(a);
    return {_mm512_add_epi32(sum.low, _mm512_madd_epi16(four, b.low)),
            _mm512_add_epi32(sum.high, _mm512_madd_epi16(four, b.high))};
  }
  static Words result(Sum sum) {
    const Words low = reinterpret_cast<Words>(sum.low), high = reinterpret_cast<Words>(sum.high);
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
           __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  }
  static Ints in_order(Ints steps) { return steps; }
  static Words offset(Ints steps) { return times_128(steps); }
};

typedef Int8
    Int8ManyRows;  // additions take as long as multiplications here: the identity below would gain nothing

#else

typedef uint16_t Halves __attribute__((vector_size(4 * lanes)));

// In each lane a's lower half times b's and a's upper half times b's, signed, added up.
inline Words add_products(Halves a, Halves b) {
#if defined(__AVX2__)
  return reinterpret_cast<Words>(
      _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<Words>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  const Ints x = reinterpret_cast<Ints>(a), y = reinterpret_cast<Ints>(b);
  return reinterpret_cast<Words>((x << 16 >> 16) * (y << 16 >> 16) + (x >> 16) * (y >> 16));
#endif
}

inline Halves all_pairs(int32_t pair) { return reinterpret_cast<Halves>(pair - Ints{}); }

// 0, 2, 1, 3 of each 4.
inline Ints even_first(Ints v) {
#if defined(__AVX2__)
  return __builtin_shufflevector(v, v, 0, 2, 1, 3, 4, 6, 5, 7);
#else
  return __builtin_shufflevector(v, v, 0, 2, 1, 3);
#endif
}

// Of 4 bytes the even ones, 0 and 2, stand in one word, the odd ones in another, in 16 bits each.
struct Int8 {
  static constexpr Precision precision = Precision::int8;
  static constexpr int64_t inner_of_line = 4, columns = lanes;
  static constexpr int tile_rows = 5, tile_vectors = 2;
  static constexpr bool widens_ahead = false;
  typedef int16_t Element;  // of a row of a: 0, 2, 1 and 3 of each 4
  struct Left {
    int32_t even, odd;
  };
  struct Right {
    Halves even, odd;
  };
  typedef Words Sum;

  static Right load(const unsigned char* p) {
    Halves bytes;
    __builtin_memcpy(&bytes, p, sizeof bytes);
    return {bytes & 0xff, bytes >> 8};
  }
  static Sum multiply_add(Left a, Right b, Sum sum) {
    return sum + add_products(all_pairs(a.even), b.even) + add_products(all_pairs(a.odd), b.odd);
  }
  static Words result(Sum sum) { return sum; }

  static Ints in_order(Ints steps) { return even_first(steps); }
  static Words offset(Ints steps) { return times_128(steps); }
};

// Where many rows meet the same columns: by (x + v)(y + u) = xu + yv + xy + uv two products take one multiplication
// (S. Winograd, 1968), and half of the multiplications become additions, for which processors have more units. The
// products xy and uv are those of one row and of one column: they are taken off the sums, once. All is modulo 2^32.
struct Int8ManyRows : Int8 {
  static constexpr int tile_rows = 4, tile_vectors = 2;
  static constexpr bool widens_ahead = true;

  static Right load(const unsigned char* p) { return *reinterpret_cast<const Right*>(p); }
  static Sum multiply_add(Left a, Right b, Sum sum) {
    return sum + add_products(all_pairs(a.even) + b.odd, all_pairs(a.odd) + b.even);
  }
  static Words widen(const unsigned char* p, Right& to) {  // returns the column's products
    const Right b = Int8::load(p);
    to.even = b.even;
    to.odd = b.odd;
    return add_products(b.even, b.odd);
  }
  static Words offset(Ints steps) {
    typedef uint64_t Neighbours __attribute__((vector_size(4 * lanes)));
    const auto odd = reinterpret_cast<Halves>(reinterpret_cast<Neighbours>(steps) >> 32 & 0xffff);
    return times_128(steps) + add_products(reinterpret_cast<Halves>(steps), odd);
  }
};

#endif

#if defined(DRAGOMAN_TILES)

struct Int8Tiles {
  static constexpr bool uses_tiles = true;
  static constexpr Precision precision = Precision::int8;
  static constexpr int64_t inner_of_line = 4;
  static constexpr bool widens_ahead = false;
  typedef int8_t Element;
  typedef Words Sum;

  template <int sums, int a, int b>
  static void add_products() {
    add_products_of_bytes<sums, a, b>();
  }
  static Ints in_order(Ints steps) { return steps; }
  static Words offset(Ints steps) { return times_128(steps); }
};

struct Bf16 {
  static constexpr bool uses_tiles = true;
  static constexpr Precision precision = Precision::bf16;
  static constexpr int64_t inner_of_line = 2;
  static constexpr bool widens_ahead = false;
  typedef uint16_t Element;
  typedef Vec Sum;

  template <int sums, int a, int b>
  static void add_products() {
    add_products_of_bf16<sums, a, b>();
  }
};

#elif defined(__AVX512BF16__)

struct Bf16 {
  static constexpr Precision precision = Precision::bf16;
  static constexpr int64_t inner_of_line = 2, columns = 16;
  static constexpr int tile_rows = 12, tile_vectors = 2;
  static constexpr bool widens_ahead = false;
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
  static constexpr int64_t inner_of_line = 2, columns = lanes;
  static constexpr int tile_rows = lanes == 16 ? 12 : 5, tile_vectors = 2;
  static constexpr bool widens_ahead = false;
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
    return dragoman::internal::multiply_add(all(a.high), b.high,
                                            dragoman::internal::multiply_add(all(a.low), b.low, sum));
  }
  static Vec result(Sum sum) { return sum; }
};

#endif

}  // namespace
}  // namespace dragoman::internal
