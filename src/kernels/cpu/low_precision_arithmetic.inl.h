// The arithmetic of low-precision products, once for each kind of processor. low_precision.inl.h holds the loops.
//
// A kind defines how a row of a is copied (Left: the part multiplied with one line of b), what it loads of a line at
// a time (Right: `columns` columns), how the two are multiplied and added up (Sum), and how many rows and vectors of
// columns a tile has.
//
//   Int8   with VNNI        4 bytes of a times 4 of b, added to 32 bits, for each column
//          with AVX2        pairs of products of bytes are added in 16 bits (vpmaddubsw). What of a pair of a might not
//                           fit is taken out of it beforehand, and multiplied by itself
//          otherwise        both are widened to 16 bits, whose products are added in pairs in 32 bits (pmaddwd)
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

// What was taken out of a row of a, to be multiplied by itself: 4 bytes for each of some lines of b.
struct Excess {
  int32_t *count, *lines, *bytes;
};

#if defined(__AVX512VNNI__)

struct Int8 {
  static constexpr Precision precision = Precision::int8;
  static constexpr int64_t inner_of_line = 4, columns = 16;
  static constexpr int tile_rows = 12, tile_vectors = 2;
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
};

#elif defined(__AVX512F__)

struct Int8 {
  static constexpr Precision precision = Precision::int8;
  static constexpr int64_t inner_of_line = 4, columns = 16;
  static constexpr int tile_rows = 12, tile_vectors = 1;
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
};

#elif defined(__AVX2__)

// For each set of 8 lanes, their numbers one after another.
struct LaneLists {
  constexpr LaneLists() {
    for (int set = 0; set < 256; ++set)
      for (int lane = 0, count = 0; lane < 8; ++lane)
        if ((set >> lane & 1) != 0) of[set][count++] = static_cast<uint8_t>(lane);
  }
  uint8_t of[256][8] = {};
};
constexpr LaneLists lane_lists;

// b's bytes are 255 at most: the products of a pair fit into 16 bits where the two elements of a add up to no more than
// 128, nor to less than −128. For most pairs they do.
struct Int8 {
  static constexpr Precision precision = Precision::int8;
  static constexpr int64_t inner_of_line = 4, columns = 8;
  static constexpr int tile_rows = 5, tile_vectors = 2;
  typedef int8_t Element;
  typedef int32_t Left;
  typedef __m256i Right;
  typedef __m256i Sum;

  static Right load(const unsigned char* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static Sum multiply_add(Left a, Right b, Sum sum) {  // compilers would keep some of a tile's sums in memory
    __m256i products;
    asm("vpmaddubsw %2, %3, %1\n\tvpmaddwd %4, %1, %1\n\tvpaddd %1, %0, %0"
        : "+x"(sum), "=&x"(products)
        : "x"(_mm256_set1_epi32(a)), "x"(b), "x"(_mm256_set1_epi16(1)));
    return sum;
  }
  static Words result(Sum sum) { return reinterpret_cast<Words>(sum); }

  // Rounds a row, and returns the sum of its elements. What is too much of a pair is taken from its second element.
  static uint32_t copy(const float* x, int64_t inner, Vec inverse, Element* row, const Excess& excess) {
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i total = {}, lines_from_k = reinterpret_cast<__m256i>(counted_lanes());
    int32_t count = 0;
    for (int64_t k = 0; k < inner; k += 32) {
      const __m256i elements = rounded(x + k, inner - k, inverse);
      const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), elements);
      total = _mm256_add_epi32(total, _mm256_madd_epi16(pairs, ones));
      const __m256i most = _mm256_set1_epi16(128), least = _mm256_set1_epi16(-128);
      const __m256i over = _mm256_sub_epi16(pairs, _mm256_min_epi16(most, _mm256_max_epi16(least, pairs)));
      const __m256i second = _mm256_slli_epi16(over, 8);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(row + k), _mm256_sub_epi8(elements, second));
      count += append(lines_from_k, second, excess.lines + count, excess.bytes + count);
      lines_from_k = _mm256_add_epi32(lines_from_k, _mm256_set1_epi32(8));
    }
    *excess.count = count;
    uint32_t sum = 0;
    for (int lane = 0; lane < lanes; ++lane) sum += reinterpret_cast<Words>(total)[lane];
    return sum;
  }

 private:
  // The lowest bytes of the rounded numbers; zeros after the last one (of fewer than one number AVX2 loads none).
  static __m256i rounded(const float* x, int64_t count, Vec inverse) {
    const auto steps = [&](int64_t k) {
      const Ints rounded = round_to_int(load_some(x + k, count - k) * inverse);
      return reinterpret_cast<__m256i>(rounded & 0xff);
    };
    const __m256i low = _mm256_packus_epi32(steps(0), steps(8)),
                  high = _mm256_packus_epi32(steps(16), steps(24));
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high),
                                       _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }

  // Stores the lines whose bytes are not all zero, and returns how many they are. Writes whole vectors.
  static int append(__m256i lines, __m256i bytes, int32_t* to_lines, int32_t* to_bytes) {
    const __m256i zeros = _mm256_cmpeq_epi32(bytes, _mm256_setzero_si256());
    const int set = ~_mm256_movemask_ps(reinterpret_cast<__m256>(zeros)) & 255;
    const auto* list = reinterpret_cast<const __m128i*>(lane_lists.of[set]);
    const __m256i order = _mm256_cvtepu8_epi32(_mm_loadl_epi64(list));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to_lines), _mm256_permutevar8x32_epi32(lines, order));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to_bytes), _mm256_permutevar8x32_epi32(bytes, order));
    return __builtin_popcount(static_cast<unsigned>(set));
  }
};

#else

typedef uint16_t Halves __attribute__((vector_size(4 * lanes)));

// In each lane a's lower half times b's and a's upper half times b's, signed, added up.
inline Words add_products(Halves a, Halves b) {
#if defined(__SSE2__)
  return reinterpret_cast<Words>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  const Ints x = reinterpret_cast<Ints>(a), y = reinterpret_cast<Ints>(b);
  return reinterpret_cast<Words>((x << 16 >> 16) * (y << 16 >> 16) + (x >> 16) * (y >> 16));
#endif
}

inline Halves all_pairs(int32_t pair) { return reinterpret_cast<Halves>(pair - Ints{}); }

// Of 4 bytes the even ones, 0 and 2, stand in one word, the odd ones in another, in 16 bits each.
struct Int8 {
  static constexpr Precision precision = Precision::int8;
  static constexpr int64_t inner_of_line = 4, columns = lanes;
  static constexpr int tile_rows = 5, tile_vectors = 2;
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
  static Ints in_order(Ints steps) { return __builtin_shufflevector(steps, steps, 0, 2, 1, 3); }
};

#endif

#if defined(DRAGOMAN_TILES)

struct Int8Tiles {
  static constexpr bool uses_tiles = true;
  static constexpr Precision precision = Precision::int8;
  static constexpr int64_t inner_of_line = 4;
  typedef int8_t Element;
  typedef Words Sum;

  template <int sums, int a, int b>
  static void add_products() {
    add_products_of_bytes<sums, a, b>();
  }
  static Ints in_order(Ints steps) { return steps; }
};

struct Bf16 {
  static constexpr bool uses_tiles = true;
  static constexpr Precision precision = Precision::bf16;
  static constexpr int64_t inner_of_line = 2;
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
