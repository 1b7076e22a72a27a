// Dropout's masks: Philox4x32-10, a block cipher over counters (Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3"), so that a mask is a function of what it is for and is never stored.
//
// The key is the op's. The counter of a word is (counter index, position, pair's low half, pair's high half with
// the head above it), and a word decides for two columns, by 16 bits each. A row is taken in blocks of 64 columns:
// column 64b + 32p + 16h + 2l + i is half h (0 the lower) of word 2p + i of counter 8b + l, whatever the width of
// the vectors.
//
//   const DropoutMask mask = dropout_mask(dropout);
//   float multipliers[dropout_block];  dropout_multipliers(mask, dropout.rows[r], head, block, multipliers);
//   apply_dropout(mask, dropout.rows[r], first_column, columns, values);     // first_column: a multiple of 64
#pragma once

#include <stdint.h>

#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

constexpr int64_t dropout_block = 64;

struct DropoutMask {
  int32_t threshold;  // of 65536: halves of words below it are dropped
  float scale;        // what the others are multiplied by
  uint32_t key[2];
};

// The scale is that of the rate rounded to 16 bits, so that the mean stays the same.
inline DropoutMask dropout_mask(const Dropout& dropout) {
  const int32_t threshold = static_cast<int32_t>(dropout.rate * 65536);
  return {threshold, 65536 / static_cast<float>(65536 - threshold), {dropout.key[0], dropout.key[1]}};
}

// Two words of 32 bits a lane; the products below look at the lower one alone.
typedef uint64_t Longs __attribute__((vector_size(4 * lanes)));

inline Longs multiply_low_words(Longs a, Longs b) {
#if defined(__AVX512F__)
  return reinterpret_cast<Longs>(
      _mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Longs>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<Longs>(_mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#elif defined(__aarch64__)
  return vmull_u32(vmovn_u64(a), vmovn_u64(b));
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

// The four words of a counter, or of as many counters as Longs has lanes: in the lower halves, while the upper
// halves hold remains that nothing reads.
struct PhiloxState {
  Longs word[4];
};

inline void philox_round(PhiloxState& s, uint32_t key0, uint32_t key1) {
  const Longs product0 = multiply_low_words(s.word[0], Longs{} + 0xD2511F53u);
  const Longs product1 = multiply_low_words(s.word[2], Longs{} + 0xCD9E8D57u);
  s.word[0] = (product1 >> 32) ^ s.word[1] ^ key0;
  s.word[1] = product1;
  s.word[2] = (product0 >> 32) ^ s.word[3] ^ key1;
  s.word[3] = product0;
}

// As many counters of one row as Longs has lanes, `first` and those after it.
inline PhiloxState philox_words(uint32_t first, uint32_t position, uint32_t pair_low, uint32_t pair_high,
                                const uint32_t* key) {
  Longs counted = {};
  for (uint32_t i = 0; i < lanes / 2; ++i) counted[i] = i;
  PhiloxState s = {{counted + first, Longs{} + position, Longs{} + pair_low, Longs{} + pair_high}};
  uint32_t key0 = key[0], key1 = key[1];
  for (int round = 0; round < 10; ++round) {
    philox_round(s, key0, key1);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return s;
}

inline Vec dropout_multiplier(const DropoutMask& mask, Words halves) {
  const Words kept = reinterpret_cast<Words>(reinterpret_cast<Ints>(halves) >= mask.threshold);
  return reinterpret_cast<Vec>(kept & reinterpret_cast<Words>(all(mask.scale)));
}

// What the columns [64 block, 64 block + 64) of a row are multiplied by: 0 or the scale.
inline void dropout_multipliers(const DropoutMask& mask, RowKey row, uint32_t head, int64_t block,
                                float* multipliers) {
  const uint32_t pair_low = static_cast<uint32_t>(row.pair);
  const uint32_t pair_high = static_cast<uint32_t>(row.pair >> 32) ^ (head << 16);
  for (int first = 0; first < 16; first += lanes) {  // the first of as many columns
    const PhiloxState s = philox_words(static_cast<uint32_t>(block * 8 + first / 2), row.position, pair_low,
                                       pair_high, mask.key);
    for (int p = 0; p < 2; ++p) {
      const Words words = reinterpret_cast<Words>((s.word[2 * p] & 0xffffffffu) | (s.word[2 * p + 1] << 32));
      store(multipliers + 32 * p + first, dropout_multiplier(mask, words & 0xffffu));
      store(multipliers + 32 * p + 16 + first, dropout_multiplier(mask, words >> 16));
    }
  }
}

// values: a row's columns [first_column, first_column + columns).
inline void apply_dropout(const DropoutMask& mask, RowKey row, int64_t first_column, int64_t columns,
                          float* values) {
  for (int64_t begin = 0; begin < columns; begin += dropout_block) {
    float multipliers[dropout_block];
    dropout_multipliers(mask, row, 0, (first_column + begin) / dropout_block, multipliers);
    const int64_t left = columns - begin;
    for (int64_t i = 0; i < dropout_block && i < left; i += lanes) {
      float* p = values + begin + i;
      store_some(p, load_some(p, left - i) * load(multipliers + i), left - i);
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
