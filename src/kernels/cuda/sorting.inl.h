// Sorting of a batch's rows by a key, its word or its position, so that rows of one key stand side by side, in their
// order. One block sorts: four bits of the keys at a time, each thread a run of the rows.
#pragma once

#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

constexpr int digit_bits = 4, digits = 1 << digit_bits;
constexpr int64_t most_sorting_threads = 512;

// Rows and their keys, in the order of the keys.
struct SortedRows {
  int32_t *keys, *rows;
};

// x of all lanes before this one, and its own, added up.
GPU_FUNCTION int32_t sum_up_to_lane(int32_t x) {
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
    const int32_t before = shuffle(x, lane() >= distance ? lane() - distance : lane());
    if (lane() >= distance) x += before;
  }
  return x;
}

// counts[digit · threads + t] becomes how many rows with this digit are in the runs of the threads before t, and
// totals[digit] how many there are of it. A warp takes a digit, and a lane some threads' counts.
GPU_FUNCTION void add_up_counts(const Shared<int32_t>& counts, const Shared<int32_t>& totals) {
  const int of_lane = block_threads() / warp_size;
  for (int digit = warp_index(); digit < digits; digit += block_warps()) {
    const int first = digit * block_threads() + lane() * of_lane;
    int32_t own = 0;
    for (int i = 0; i < of_lane; ++i) own += counts[first + i];
    const int32_t up_to = sum_up_to_lane(own);
    if (lane() == warp_size - 1) totals[digit] = up_to;
    int32_t before = up_to - own;
    for (int i = 0; i < of_lane; ++i) {
      const int32_t count = counts[first + i];
      counts[first + i] = before;
      before += count;
    }
  }
}

// One digit: from one pair of arrays to the other.
GPU_FUNCTION void sort_by_digit(int64_t begin, int64_t end, int shift, SortedRows from, SortedRows to) {
  const Shared<int32_t> totals = shared<int32_t>(0);
  const Shared<int32_t> counts = shared<int32_t>(digits * sizeof(int32_t));
  const auto place = [&](int64_t i) {
    return (from.keys[i] >> shift & (digits - 1)) * block_threads() + thread_index();
  };
  for (int digit = 0; digit < digits; ++digit) counts[digit * block_threads() + thread_index()] = 0;
  for (int64_t i = begin; i < end; ++i) counts[place(i)] += 1;
  sync_block();
  add_up_counts(counts, totals);
  sync_block();
  int32_t smaller_digits[digits];
  int32_t before = 0;
  for (int digit = 0; digit < digits; ++digit) {
    smaller_digits[digit] = before;
    before += totals[digit];
  }
  for (int64_t i = begin; i < end; ++i) {
    const int32_t to_row = smaller_digits[place(i) / block_threads()] + counts[place(i)];
    counts[place(i)] += 1;
    to.keys[to_row] = from.keys[i];
    to.rows[to_row] = from.rows[i];
  }
  sync_block();
}

// ids, or where that is null the positions, are the keys.
GPU_KERNEL sort_rows_kernel(const int32_t* ids, const RowKey* row_keys, int64_t count, int passes,
                            SortedRows a, SortedRows b) {
  const int64_t run = ceil_div(count, block_threads()), begin = thread_index() * run;
  const int64_t end = begin + run < count ? begin + run : count;
  for (int64_t i = begin; i < end; ++i) {
    a.keys[i] = ids != nullptr ? ids[i] : static_cast<int32_t>(row_keys[i].position);
    a.rows[i] = static_cast<int32_t>(i);
  }
  for (int pass = 0; pass < passes; ++pass)
    sort_by_digit(begin, end, pass * digit_bits, pass % 2 == 0 ? a : b, pass % 2 == 0 ? b : a);
}

constexpr int64_t sorting_floats(int64_t count) { return 4 * count; }  // of workspace

// Keys are below `keys`.
inline SortedRows sort_rows(Context& context, const int32_t* ids, const RowKey* row_keys, int64_t count,
                            int64_t keys, float* memory) {
  constexpr int64_t rows_of_thread = 16;
  int32_t* words = reinterpret_cast<int32_t*>(memory);
  const SortedRows a = {words, words + count}, b = {words + 2 * count, words + 3 * count};
  int passes = 1;
  while (passes < 8 && keys > int64_t{1} << passes * digit_bits) ++passes;
  const int64_t wanted = ceil_div(ceil_div(count, rows_of_thread), warp_size) * warp_size;
  const int threads = static_cast<int>(wanted < most_sorting_threads ? wanted : most_sorting_threads);
  launch(
      context,
      {"sort_rows", count > 0 ? 1 : 0, threads, digits * sizeof(int32_t) * static_cast<size_t>(threads + 1)},
      sort_rows_kernel, ids, row_keys, count, passes, a, b);
  return passes % 2 == 0 ? a : b;
}

}  // namespace
}  // namespace dragoman::internal
