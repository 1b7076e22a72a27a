// AMX's tiles: eight registers of 16 rows of 64 bytes, and sums of products of two of them. In tests a model of the
// instructions in C++ stands in (DRAGOMAN_TILE_MODEL), so that what is built on tiles is tested on every machine.
//
// A tile is named by its number, 0 to 7, and only between begin_tiles() and end_tiles() in the same thread. (No object
// calls them: a table of kernels has no code for exceptions.)
//
//   sums += a·b    sums: 16 × 16 numbers of 32 bits
//                  a:    16 rows of 16 words, each of which is 4 bytes or 2 bf16
//                  b:    16 rows of 16 words; word k of a row of a meets row k
#pragma once

#include <stdint.h>

namespace dragoman::internal {
namespace {

constexpr int64_t tile_side = 16;  // rows of a tile, and words of a row

#if !defined(DRAGOMAN_TILE_MODEL)

// Palette 1: all tiles whole.
struct alignas(64) TileLayout {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

inline void begin_tiles() {
  static constexpr TileLayout layout;
  asm volatile("ldtilecfg %0" ::"m"(layout));
}
inline void end_tiles() { asm volatile("tilerelease"); }

template <int tile>
void clear_tile() {
  asm volatile("tilezero %%tmm%c0" ::"i"(tile));
}

// stride: bytes from one row to the next.
template <int tile>
void load_tile(const void* from, int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(tile) : "memory");
}

template <int tile>
void store_tile(void* to, int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(tile) : "memory");
}

// a's bytes are signed, b's are unsigned.
template <int sums, int a, int b>
void add_products_of_bytes() {
  asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(a), "i"(b));
}

// In floats: the products of the lower halves of all words are added up, and those of the upper halves; then both
// results are added together, and to the sums. Numbers below 2^-126 are 0.
template <int sums, int a, int b>
void add_products_of_bf16() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(a), "i"(b));
}

#else

struct TileModel {
  uint32_t words[8][tile_side][tile_side];
  bool in_use;
};

inline thread_local TileModel tile_model = {};

inline void begin_tiles() { tile_model.in_use = true; }
inline void end_tiles() { tile_model = {}; }

// The instructions, too, end the program outside of that.
inline auto& model_of_tile(int tile) {
  if (!tile_model.in_use) __builtin_trap();
  return tile_model.words[tile];
}

template <int tile>
void clear_tile() {
  __builtin_memset(model_of_tile(tile), 0, sizeof tile_model.words[tile]);
}

template <int tile>
void load_tile(const void* from, int64_t stride) {
  for (int64_t row = 0; row < tile_side; ++row)
    __builtin_memcpy(model_of_tile(tile)[row], static_cast<const char*>(from) + row * stride, 64);
}

template <int tile>
void store_tile(void* to, int64_t stride) {
  for (int64_t row = 0; row < tile_side; ++row)
    __builtin_memcpy(static_cast<char*>(to) + row * stride, model_of_tile(tile)[row], 64);
}

template <int sums, int a, int b>
void add_products_of_bytes() {
  const auto& left = model_of_tile(a);
  const auto& right = model_of_tile(b);
  for (int64_t i = 0; i < tile_side; ++i)
    for (int64_t k = 0; k < tile_side; ++k)
      for (int64_t j = 0; j < tile_side; ++j)
        for (int byte = 0; byte < 32; byte += 8) {
          const auto x = static_cast<int8_t>(left[i][k] >> byte);
          const auto y = static_cast<uint8_t>(right[k][j] >> byte);
          model_of_tile(sums)[i][j] += static_cast<uint32_t>(int32_t{x} * int32_t{y});
        }
}

inline float flushed(float x) { return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0, x) : x; }

inline float float_of_bits(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return flushed(x);
}

template <int sums, int a, int b>
void add_products_of_bf16() {
  const auto& left = model_of_tile(a);
  const auto& right = model_of_tile(b);
  for (int64_t i = 0; i < tile_side; ++i)
    for (int64_t j = 0; j < tile_side; ++j) {
      float lower = 0, upper = 0;
      for (int64_t k = 0; k < tile_side; ++k) {
        const uint32_t x = left[i][k], y = right[k][j];
        lower = flushed(__builtin_fmaf(float_of_bits(x << 16), float_of_bits(y << 16), lower));
        upper =
            flushed(__builtin_fmaf(float_of_bits(x & 0xffff0000u), float_of_bits(y & 0xffff0000u), upper));
      }
      const float sum = flushed(float_of_bits(model_of_tile(sums)[i][j]) + flushed(lower + upper));
      __builtin_memcpy(&model_of_tile(sums)[i][j], &sum, sizeof sum);
    }
}

#endif

// The tile `number` of b's rows of words, where fewer than 16 are left: the others are zeros.
template <int number>
void load_last_rows(const void* from, int64_t stride, int64_t rows) {
  alignas(64) unsigned char words[tile_side][64] = {};
  for (int64_t row = 0; row < rows; ++row)
    __builtin_memcpy(words[row], static_cast<const char*>(from) + row * stride, 64);
  load_tile<number>(words, 64);
}

template <int number>
void load_rows(const void* from, int64_t stride, int64_t rows) {
  if (rows >= tile_side)
    load_tile<number>(from, stride);
  else
    load_last_rows<number>(from, stride, rows);
}

}  // namespace
}  // namespace dragoman::internal
