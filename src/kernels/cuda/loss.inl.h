// The losses of rows of logits and their gradients in place; log-probabilities, and the largest of each row. A block
// has a row: each of its threads reads 32 columns of it at once, which stay in registers until they are what the row
// becomes. Only a row of more than 32,768 columns is read again for its sums, and once more for what becomes of it.
#pragma once

#include "kernels/cuda/functions.inl.h"
#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

constexpr float lowest_float = -3.402823466e38f;

// --- a thread's columns -----------------------------------------------------------------------------

constexpr int fours_of_thread = 8;  // four columns side by side
constexpr int most_row_threads = 1024;
constexpr int64_t most_columns_at_once = int64_t{4} * fours_of_thread * most_row_threads;

inline Grid logits_grid(const char* name, int64_t rows, int64_t columns) {
  constexpr int64_t columns_of_warp = 4 * fours_of_thread * warp_size, most = most_row_threads / warp_size;
  const int64_t wanted = ceil_div(columns, columns_of_warp);
  const int warps = static_cast<int>(wanted < most ? wanted : most);
  return {name, rows, warps * warp_size, 5 * static_cast<size_t>(warps) * sizeof(float)};
}

// A thread's columns of a part of a row. A warp has 1,024 of them, side by side, of which its threads have fours in
// turn: what it adds up is the same however many warps a row has, and −∞ behind a row's end changes none of its sums.
struct RowPart {
  Four fours[fours_of_thread];
};
GPU_FUNCTION int columns_of_block() { return 4 * fours_of_thread * block_threads(); }
GPU_FUNCTION int logits_column(int begin, int n) {
  return begin + 4 * ((warp_index() * fours_of_thread + n) * warp_size + lane());
}

// Beyond the row's end: −∞. Which columns a thread has is the same wherever the row lies.
GPU_FUNCTION RowPart part_of_row(const float* x, int columns, int begin) {
  const bool aligned = is_multiple_of(x, sizeof(Four));
  RowPart part;
#pragma unroll
  for (int n = 0; n < fours_of_thread; ++n) {
    const int c = logits_column(begin, n);
    if (aligned && c + 4 <= columns) {
      part.fours[n] = load_four(x + c);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) part.fours[n].x[i] = c + i < columns ? x[c + i] : -INFINITY;
    }
  }
  return part;
}

// --- over a row -------------------------------------------------------------------------------------

// Of a row's elements x: the largest, Σ e^(x − top), and Σ (x − top).
struct RowSums {
  float top, exponentials, shifted;
};

GPU_FUNCTION float top_of(const RowPart& part, float top) {
#pragma unroll
  for (const Four& four : part.fours) {
#pragma unroll
    for (const float x : four.x) top = fmaxf(top, x);
  }
  return top;
}

// x becomes e^(x − top), which is added to the sums.
GPU_FUNCTION void exponentiate(RowPart& part, int columns, int begin, RowSums& sums) {
#pragma unroll
  for (int n = 0; n < fours_of_thread; ++n) {
    const int left = columns - logits_column(begin, n);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float& x = part.fours[n].x[i];
      const float shifted = x - sums.top;
      if (i < left) sums.shifted += shifted;
      x = expf(shifted);
      sums.exponentials += x;
    }
  }
}

// Over the block's threads, the same in each. What a warp has gets a place of its own in shared memory; lanes then
// combine the warps as those combined their lanes.
GPU_FUNCTION float block_max(float x, const Shared<float>& of_warps) {
  const float of_warp = warp_max(x);
  if (lane() == 0) of_warps[warp_index()] = of_warp;
  sync_block();
  float other = lowest_float;
  if (lane() < block_warps()) other = of_warps[lane()];
  return warp_max(other);
}
GPU_FUNCTION RowSums block_sums(RowSums sums, const Shared<float>& of_warps) {
  const float exponentials = warp_sum(sums.exponentials), shifted = warp_sum(sums.shifted);
  if (lane() == 0) {
    of_warps[2 * warp_index()] = exponentials;
    of_warps[2 * warp_index() + 1] = shifted;
  }
  sync_block();
  RowSums other = {sums.top, 0, 0};
  if (lane() < block_warps()) {
    other.exponentials = of_warps[2 * lane()];
    other.shifted = of_warps[2 * lane() + 1];
  }
  return {sums.top, warp_sum(other.exponentials), warp_sum(other.shifted)};
}

// Of a whole row, the same in all threads of the block, with the same bits in each kernel that asks for them. Takes
// three floats of shared memory for each warp. Where a row fits, `part` then has this thread's e^(x − top).
template <bool fits>
GPU_FUNCTION RowSums sums_of_row(const float* x, int columns, RowPart& part) {
  const int at_once = fits ? columns : columns_of_block();
  float top = lowest_float;
  for (int begin = 0; begin < columns; begin += at_once) {
    part = part_of_row(x, columns, begin);
    top = top_of(part, top);
  }
  RowSums sums = {block_max(top, shared<float>(0)), 0, 0};
  for (int begin = 0; begin < columns; begin += at_once) {
    if (!fits) part = part_of_row(x, columns, begin);
    exponentiate(part, columns, begin, sums);
  }
  return block_sums(sums, shared<float>(static_cast<size_t>(block_warps()) * sizeof(float)));
}

// --- losses -----------------------------------------------------------------------------------------

// The probabilities of the smoothed target: of the right word and of each other one.
struct SmoothedTarget {
  float right, other;
};

inline SmoothedTarget smoothed_target(Smoothing smoothing, int64_t vocabulary) {
  const float v = static_cast<float>(vocabulary);
  if (smoothing.over == SmoothingOver::all)
    return {1 - smoothing.amount + smoothing.amount / v, smoothing.amount / v};
  return {1 - smoothing.amount, vocabulary > 1 ? smoothing.amount / (v - 1) : 0};
}

GPU_FUNCTION void set_one(float* to, const Four& x, int i) { to[i] = x.x[i]; }
GPU_FUNCTION void set_one(Bf16* to, const FourBf16& x, int i) {
  to[i] = static_cast<Bf16>(x.pairs[i / 2] >> i % 2 * 16);
}
// The first `left` of four numbers.
template <class T, class Numbers>
GPU_FUNCTION void store_some(T* to, const Numbers& numbers, bool aligned, int left) {
  if (aligned && left >= 4) {
    store_four(numbers, to);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (i < left) set_one(to, numbers, i);
}

// Of a thread's columns, whose e^(x − top) it has.
GPU_FUNCTION void store_gradient(const RowPart& part, int begin, const Matrix& logits, int64_t row,
                                 int target, SmoothedTarget q, float scale) {
  const bool rounds = logits.rounded != nullptr;
  float* x = rounds ? nullptr : logits.data + row * logits.stride;
  Bf16* rounded = rounds ? logits.rounded + row * logits.stride : nullptr;
  const bool aligned = rounds ? is_multiple_of(rounded, sizeof(FourBf16)) : is_multiple_of(x, sizeof(Four));
  const int columns = static_cast<int>(logits.columns);
#pragma unroll
  for (int n = 0; n < fours_of_thread; ++n) {
    const int c = logits_column(begin, n);
    if (c >= columns) continue;
    Four d;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      d.x[i] = fmaf(part.fours[n].x[i], scale, c + i == target ? -q.right : -q.other);
    if (rounds) {
      store_some(rounded + c, rounded_to_bf16(d), aligned, columns - c);
    } else {
      store_some(x + c, d, aligned, columns - c);
    }
  }
}

template <bool fits>
GPU_KERNEL_OF(most_row_threads, 1)
cross_entropy_kernel(Matrix logits, const int32_t* targets, SmoothedTarget q, bool gradient, float* losses) {
  const int64_t r = block_index();
  const float* x = logits.data + r * logits.stride;
  const int columns = static_cast<int>(logits.columns), target = targets[r];
  const float of_target = x[target];  // before its gradient takes its place
  RowPart part;
  RowSums sums = sums_of_row<fits>(x, columns, part);
  if (thread_index() == 0) {
    const float log_sum = logf(sums.exponentials), shifted_target = of_target - sums.top;
    // −Σ q·log p, with log p = (x − top) − log Σ e^(x − top) and Σ q = 1
    losses[2 * r] = log_sum - (q.right - q.other) * shifted_target - q.other * sums.shifted;
    losses[2 * r + 1] = -(shifted_target - log_sum);
  }
  if (!gradient) return;
  const float scale = 1 / sums.exponentials;
  const int at_once = fits ? columns : columns_of_block();
  for (int begin = 0; begin < columns; begin += at_once) {
    if (!fits) {
      part = part_of_row(x, columns, begin);
      exponentiate(part, columns, begin, sums);
    }
    store_gradient(part, begin, logits, r, target, q, scale);
  }
}

void cross_entropy(Context& context, Matrix logits, const int32_t* targets, Smoothing smoothing,
                   bool gradient, float* losses) {
  launch(context, logits_grid("cross_entropy", logits.rows, logits.columns),
         logits.columns <= most_columns_at_once ? cross_entropy_kernel<true> : cross_entropy_kernel<false>,
         logits, targets, smoothed_target(smoothing, logits.columns), gradient, losses);
}

template <bool fits>
GPU_KERNEL_OF(most_row_threads, 1)
log_softmax_kernel(Matrix logits) {
  float* x = logits.data + block_index() * logits.stride;
  RowPart part;
  const RowSums sums = sums_of_row<fits>(x, static_cast<int>(logits.columns), part);
  const float log_sum = logf(sums.exponentials);
  for (int64_t c = thread_index(); c < logits.columns; c += block_threads()) x[c] = x[c] - sums.top - log_sum;
}

void log_softmax(Context& context, Matrix logits) {
  launch(context, logits_grid("log_softmax", logits.rows, logits.columns),
         logits.columns <= most_columns_at_once ? log_softmax_kernel<true> : log_softmax_kernel<false>,
         logits);
}

// The larger of the two is taken out of the sum: then it lies between the smaller share and 1. A NaN stays one.
GPU_FUNCTION float mixed_log(float a, float b, float share_a, float share_b) {
  const float top = fmaxf(fmaxf(a, b), lowest_float);  // where both are −∞ the sum is 0
  const float sum = fmaf(share_a, expf(a - top), share_b * expf(b - top));
  return sum == 0 ? -INFINITY : top + logf(sum);
}

GPU_KERNEL mix_log_probabilities_kernel(ConstMatrix other, float share, Matrix mixed) {
  const int64_t r = row_of_warp();
  if (r >= mixed.rows) return;
  const float* b = other.data + r * other.row_stride;
  float* a = mixed.data + r * mixed.stride;
  for_each_column(mixed.columns, [=](int64_t c) { a[c] = mixed_log(a[c], b[c], 1 - share, share); });
}

void mix_log_probabilities(Context& context, ConstMatrix other, float share, Matrix mixed) {
  launch(context, row_grid("mix_log_probabilities", mixed.rows), mix_log_probabilities_kernel, other, share,
         mixed);
}

// --- the largest ------------------------------------------------------------------------------------

GPU_FUNCTION bool leads(Element a, Element b) {
  if (a.column < 0 || b.column < 0) return a.column >= 0;
  return a.value > b.value || (a.value == b.value && a.column < b.column);
}

GPU_FUNCTION Element warp_leader(Element e) {
#pragma unroll
  for (int mask = warp_size / 2; mask > 0; mask /= 2) {
    const Element other = {shuffle_xor(e.column, mask), shuffle_xor(e.value, mask)};
    if (leads(other, e)) e = other;
  }
  return e;
}

// What log_softmax subtracts from a row, in its order; zeros: nothing.
struct RowOffset {
  float top, log_sum;
};

// The first of this thread's elements behind `before` (its column −1: the first of all).
GPU_FUNCTION Element next_of_thread(const float* x, int64_t columns, RowOffset offset, Element before) {
  Element best = {-1, -INFINITY};
  for (int64_t c = thread_index(); c < columns; c += block_threads()) {
    const Element e = {static_cast<int32_t>(c), x[c] - offset.top - offset.log_sum};
    if (!(e.value >= lowest_float) || (before.column >= 0 && !leads(before, e))) continue;
    if (leads(e, best)) best = e;
  }
  return best;
}

// Each thread has the first of its own elements at hand; the leader's thread looks for its next one.
template <bool fits>
GPU_KERNEL_OF(most_row_threads, 1)
top_kernel(ConstMatrix rows, int64_t count, bool after_softmax, Element* largest) {
  const float* x = rows.data + block_index() * rows.row_stride;
  RowOffset offset = {0, 0};
  if (after_softmax) {
    RowPart part;
    const RowSums sums = sums_of_row<fits>(x, static_cast<int>(rows.columns), part);
    offset = {sums.top, logf(sums.exponentials)};
  }
  const size_t after_sums = 3 * static_cast<size_t>(block_warps()) * sizeof(float);
  const Shared<float> values = shared<float>(after_sums);
  const Shared<int32_t> columns =
      shared<int32_t>(after_sums + static_cast<size_t>(block_warps()) * sizeof(float));
  Element own = next_of_thread(x, rows.columns, offset, {-1, 0});
  for (int64_t n = 0; n < count; ++n) {
    const Element of_warp = warp_leader(own);
    if (lane() == 0) {
      values[warp_index()] = of_warp.value;
      columns[warp_index()] = of_warp.column;
    }
    sync_block();
    Element leader = {-1, -INFINITY};
    if (lane() < block_warps()) leader = {columns[lane()], values[lane()]};
    leader = warp_leader(leader);
    sync_block();
    if (thread_index() == 0) largest[block_index() * count + n] = leader;
    if (leader.column >= 0 && own.column == leader.column)
      own = next_of_thread(x, rows.columns, offset, leader);
  }
}

void top(Context& context, ConstMatrix rows, int64_t count, Element* largest) {
  launch(context, logits_grid("top", rows.rows, rows.columns), top_kernel<true>, rows, count, false, largest);
}

void top_log_probabilities(Context& context, ConstMatrix logits, int64_t count, Element* largest) {
  launch(context, logits_grid("top_log_probabilities", logits.rows, logits.columns),
         logits.columns <= most_columns_at_once ? top_kernel<true> : top_kernel<false>, logits, count, true,
         largest);
}

}  // namespace
}  // namespace dragoman::internal
