// The arithmetic of low-precision products, once for each kind of processor. low_precision.inl.h holds the loops.
//
// A kind defines how a row of a is copied (Left: the part multiplied with one line of b), what it loads of a line at
// a time (Right: `columns` columns), how the two are multiplied and added up (Sum), and how many rows and vectors of
// columns a tile has.
//
//   Int8   with VNNI        4 bytes of a times 4 of b, added to 32 bits, for each column
//          from AVX2 on     pairs of products of bytes are added in 16 bits (vpmaddubsw). The excess of a
//                           pair of a, with which they might not fit, is subtracted first and multiplied separately
//          ARM's dotprod    as with VNNI
//          ARM's baseline   products of bytes in 16 bits, whose pairs are added to 32 bits
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

// What was subtracted from a row of a, to be multiplied separately: 4 bytes for each of some lines of b.
struct Excess {
  int32_t *count, *lines, *bytes;
};

#if defined(__AVX512VNNI__)

struct Int8 {
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

#elif defined(__AVX2__)

typedef uint8_t Bytes __attribute__((vector_size(4 * lanes)));
typedef int16_t Shorts __attribute__((vector_size(4 * lanes)));

#if defined(__AVX512F__)

// Neighbours are added up; they are signed.
inline Shorts sums_of_pairs(Bytes x) {
  return reinterpret_cast<Shorts>(_mm512_maddubs_epi16(_mm512_set1_epi8(1), reinterpret_cast<__m512i>(x)));
}
inline Words sums_of_pairs(Shorts x) {
  return reinterpret_cast<Words>(_mm512_madd_epi16(reinterpret_cast<__m512i>(x), _mm512_set1_epi16(1)));
}

// The lowest bytes of four vectors, one after another.
inline Bytes lowest_bytes(const Ints (&of)[4]) {
  Bytes bytes;
  for (int i = 0; i < 4; ++i) {
    const __m128i narrowed = _mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(of[i]));
    __builtin_memcpy(reinterpret_cast<char*>(&bytes) + i * lanes, &narrowed, sizeof narrowed);
  }
  return bytes;
}

// Stores the lanes of x in the set, one after another, and something in whole vectors behind them.
inline void store_set(int32_t* to, Words x, int set) {
  _mm512_storeu_si512(to,
                      _mm512_maskz_compress_epi32(static_cast<__mmask16>(set), reinterpret_cast<__m512i>(x)));
}

inline int lanes_that_are_zero(Words x) {
  const auto bits = reinterpret_cast<__m512i>(x);
  return _mm512_testn_epi32_mask(bits, bits);
}

#else

inline Shorts sums_of_pairs(Bytes x) {
  return reinterpret_cast<Shorts>(_mm256_maddubs_epi16(_mm256_set1_epi8(1), reinterpret_cast<__m256i>(x)));
}
inline Words sums_of_pairs(Shorts x) {
  return reinterpret_cast<Words>(_mm256_madd_epi16(reinterpret_cast<__m256i>(x), _mm256_set1_epi16(1)));
}

inline Bytes lowest_bytes(const Ints (&of)[4]) {
  const auto lowest = [&](int i) { return reinterpret_cast<__m256i>(of[i] & 0xff); };
  const __m256i low = _mm256_packus_epi32(lowest(0), lowest(1)),
                high = _mm256_packus_epi32(lowest(2), lowest(3));
  return reinterpret_cast<Bytes>(
      _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}

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

inline void store_set(int32_t* to, Words x, int set) {
  const __m128i list = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(lane_lists.of[set]));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_permutevar8x32_epi32(reinterpret_cast<__m256i>(x), _mm256_cvtepu8_epi32(list)));
}

inline int lanes_that_are_zero(Words x) { return _mm256_movemask_ps(reinterpret_cast<__m256>(x == 0)); }

#endif

// b's bytes are 255 at most: the products of a pair fit into 16 bits where the two elements of a add up to no more than
// 128, nor to less than −128. For most pairs they do.
struct Int8 {
  static constexpr int64_t inner_of_line = 4, columns = lanes;
  static constexpr int tile_rows = registers == 32 ? 12 : 5, tile_vectors = 2;
  typedef int8_t Element;
  typedef int32_t Left;
  typedef Words Right;
  typedef Words Sum;

  static Right load(const unsigned char* p) {
    Words bytes;
    __builtin_memcpy(&bytes, p, sizeof bytes);
    return bytes;
  }
  static Sum multiply_add(Left a, Right b, Sum sum) {  // compilers would keep some of a tile's sums in memory
    Words products;
    asm("vpmaddubsw %2, %3, %1\n\tvpmaddwd %4, %1, %1\n\tvpaddd %1, %0, %0"
        : "+v"(sum), "=&v"(products)
        : "v"(a - Ints{}), "v"(b), "v"(Shorts{} + 1));
    return sum;
  }
  static Words result(Sum sum) { return sum; }

  // Rounds a row, and returns the sum of its elements. What is too much of a pair is taken from its second element.
  static uint32_t copy(const float* x, int64_t inner, Vec inverse, Element* row, const Excess& excess) {
    Words total = {}, lines = reinterpret_cast<Words>(counted_lanes());
    int32_t count = 0;
    for (int64_t k = 0; k < inner; k += 4 * lanes, lines += lanes) {
      const Bytes elements = rounded(x + k, inner - k, inverse);
      const Shorts pairs = sums_of_pairs(elements);
      total += sums_of_pairs(pairs);
      const Shorts most = pairs > 128 ? Shorts{} + 128 : pairs, fitting = most < -128 ? Shorts{} - 128 : most;
      const Shorts second = (pairs - fitting) << 8;
      const Bytes kept = elements - reinterpret_cast<Bytes>(second);
      __builtin_memcpy(row + k, &kept, sizeof kept);
      const Words bytes = reinterpret_cast<Words>(second);
      const int set = (1 << lanes) - 1 - lanes_that_are_zero(bytes);
      store_set(excess.lines + count, lines, set);
      store_set(excess.bytes + count, bytes, set);
      count += __builtin_popcount(static_cast<unsigned>(set));
    }
    *excess.count = count;
    uint32_t sum = 0;
    for (int lane = 0; lane < lanes; ++lane) sum += total[lane];
    return sum;
  }

 private:
  // The lowest bytes of the rounded numbers; zeros after the last one.
  static Bytes rounded(const float* x, int64_t count, Vec inverse) {
    Ints steps[4];
    for (int i = 0; i < 4; ++i) {
      const int64_t left = count - i * lanes;
      steps[i] = left > 0 ? round_to_int(load_some(x + i * lanes, left) * inverse) : Ints{};
    }
    return lowest_bytes(steps);
  }
};

#elif defined(__aarch64__)

// Both are signed here: the 128 that is added to b's bytes is removed as they are loaded.
struct SignedInt8 {
  static constexpr bool is_signed = true;
  static constexpr int64_t inner_of_line = 4, columns = lanes;
  static constexpr int tile_vectors = 2;
  typedef int8_t Element;
  typedef int32_t Left;
  typedef int8x16_t Right;

  static Right load(const unsigned char* p) {
    return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(p), vdupq_n_u8(0x80)));
  }
  static Ints in_order(Ints steps) { return steps; }
};

#if defined(__ARM_FEATURE_DOTPROD)

struct Int8 : SignedInt8 {
  static constexpr int tile_rows = 12;
  typedef int32x4_t Sum;

  static Sum multiply_add(Left a, Right b, Sum sum) {
    const int32x2_t in_lane_0 = {a, 0};  // which the instruction takes for all columns
    return vdotq_lane_s32(sum, b, vreinterpret_s8_s32(in_lane_0), 0);
  }
  static Words result(Sum sum) { return reinterpret_cast<Words>(sum); }
};

#else

struct Int8 : SignedInt8 {
  static constexpr int tile_rows = 6;
  struct Sum {
    int32x4_t low, high;  // two lanes for each column
  };

  static Sum multiply_add(Left a, Right b, Sum sum) {
    const int8x16_t of_all_columns = vreinterpretq_s8_s32(vdupq_n_s32(a));
    return {vpadalq_s16(sum.low, vmull_s8(vget_low_s8(of_all_columns), vget_low_s8(b))),
            vpadalq_s16(sum.high, vmull_high_s8(of_all_columns, b))};
  }
  static Words result(Sum sum) { return reinterpret_cast<Words>(vpaddq_s32(sum.low, sum.high)); }
};

#endif

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
  static constexpr int64_t inner_of_line = 2, columns = lanes;
  static constexpr int tile_rows = registers == 32 ? 12 : 5, tile_vectors = 2;
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
