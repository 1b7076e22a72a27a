// Dropout's masks, bit for bit those of the CPU (cpu/random.inl.h says which word of which counter decides for a
// column): Philox4x32-10.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

constexpr int dropout_block = 64;   // columns that eight counters decide for
constexpr int columns_of_lane = 8;  // of these, that one counter decides for; and that a lane of eight takes

struct DropoutMask {
  bool drops;
  int32_t threshold;  // of 65536: halves of words below it are dropped
  float scale = 1;    // what the others are multiplied by
  uint32_t key[2];
  const RowKey* rows;
};

inline DropoutMask dropout_mask(const Dropout& dropout) {
  const int32_t threshold = static_cast<int32_t>(dropout.rate * 65536);
  return {dropout.rate > 0,
          threshold,
          65536 / static_cast<float>(65536 - threshold),
          {dropout.key[0], dropout.key[1]},
          dropout.rows};
}

struct PhiloxWords {
  uint32_t word[4];
};

GPU_FUNCTION PhiloxWords philox(const DropoutMask& mask, const RowKey& row, uint32_t head, uint32_t counter) {
  PhiloxWords s = {{counter, row.position, static_cast<uint32_t>(row.pair),
                    static_cast<uint32_t>(row.pair >> 32) ^ (head << 16)}};
  uint32_t key0 = mask.key[0], key1 = mask.key[1];
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = static_cast<uint64_t>(s.word[0]) * 0xD2511F53u;
    const uint64_t product1 = static_cast<uint64_t>(s.word[2]) * 0xCD9E8D57u;
    s = {{static_cast<uint32_t>(product1 >> 32) ^ s.word[1] ^ key0, static_cast<uint32_t>(product1),
          static_cast<uint32_t>(product0 >> 32) ^ s.word[3] ^ key1, static_cast<uint32_t>(product0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return s;
}

// What this half of a word decides.
GPU_FUNCTION bool keeps(const DropoutMask& mask, uint32_t word, int half) {
  return static_cast<int32_t>(half == 0 ? word & 0xffffu : word >> 16) >= mask.threshold;
}
GPU_FUNCTION float dropout_multiplier(const DropoutMask& mask, uint32_t word, int half) {
  return keeps(mask, word, half) ? mask.scale : 0.0f;
}

// What one column of a row, or of a head of it, is multiplied by. A whole row takes less by for_columns (rows.inl.h).
GPU_FUNCTION float dropout_multiplier_at(const DropoutMask& mask, int64_t row, int64_t head, int64_t column) {
  if (!mask.drops) return 1;
  const int in_block = static_cast<int>(column % dropout_block), in_half = in_block % 16;
  const uint32_t counter = static_cast<uint32_t>(column / dropout_block * 8 + in_half / 2);
  const PhiloxWords s = philox(mask, mask.rows[row], static_cast<uint32_t>(head), counter);
  // Chosen, not indexed: an index would put the words into memory.
  const uint32_t of_first = in_half % 2 == 0 ? s.word[0] : s.word[1],
                 of_second = in_half % 2 == 0 ? s.word[2] : s.word[3];
  return dropout_multiplier(mask, in_block < 32 ? of_first : of_second, in_block / 16 % 2);
}

// A warp's four rows from `first_row` on and 32 columns from `first_column`, a multiple of 32: what this lane's column
// of each is multiplied by. One counter decides for four of the columns, so that each lane computes one for all. Rows
// from `rows` on have none.
GPU_FUNCTION void dropout_multipliers_of_tile(const DropoutMask& mask, int64_t first_row, int64_t rows,
                                              int64_t head, int64_t first_column, float (&multipliers)[4]) {
  for (float& multiplier : multipliers) multiplier = 1;
  if (!mask.drops) return;
  constexpr int counters = warp_size / 4;
  const int of_column = lane() % 16;  // of the half that a word's halves decide for
  const int64_t row = first_row + (lane() / counters < rows ? lane() / counters : 0);
  const uint32_t counter = static_cast<uint32_t>(first_column / dropout_block * counters + lane() % counters);
  const PhiloxWords s = philox(mask, mask.rows[row], static_cast<uint32_t>(head), counter);
  const bool second = first_column / 32 % 2 != 0;
  const uint32_t even = second ? s.word[2] : s.word[0], odd = second ? s.word[3] : s.word[1];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int from = i * counters + of_column / 2;
    const uint32_t of_even = shuffle(even, from), of_odd = shuffle(odd, from);
    multipliers[i] = dropout_multiplier(mask, of_column % 2 == 0 ? of_even : of_odd, lane() / 16);
  }
}

// Of one row and the four columns from `column` on, a multiple of 4: two counters decide for them.
GPU_FUNCTION void dropout_multipliers_of_four(const DropoutMask& mask, int64_t row, int64_t head,
                                              int64_t column, float (&multipliers)[4]) {
  for (float& multiplier : multipliers) multiplier = 1;
  if (!mask.drops) return;
  const int in_block = static_cast<int>(column % dropout_block);
#pragma unroll
  for (int pair = 0; pair < 2; ++pair) {
    const uint32_t counter = static_cast<uint32_t>(column / dropout_block * 8 + in_block % 16 / 2 + pair);
    const PhiloxWords s = philox(mask, mask.rows[row], static_cast<uint32_t>(head), counter);
    multipliers[2 * pair] =
        dropout_multiplier(mask, in_block < 32 ? s.word[0] : s.word[2], in_block / 16 % 2);
    multipliers[2 * pair + 1] =
        dropout_multiplier(mask, in_block < 32 ? s.word[1] : s.word[3], in_block / 16 % 2);
  }
}

}  // namespace
}  // namespace dragoman::internal
