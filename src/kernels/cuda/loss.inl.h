// The losses of rows of logits and their gradients in place; log-probabilities, and the largest of each row. A block
// has a row: it reads it once for the maximum and the sum together, and once more for what becomes of it.
#pragma once

#include "kernels/cuda/functions.inl.h"
#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

constexpr float lowest_float = -3.402823466e38f;

// Threads for a row of this width, of which each takes every n-th column.
inline int threads_of_row(int64_t columns) {
  constexpr int64_t columns_of_thread = 64, most = 16;
  const int64_t warps = ceil_div(columns, columns_of_thread * warp_size);
  return static_cast<int>(warps < most ? warps : most) * warp_size;
}
inline Grid logits_grid(const char* name, int64_t rows, int64_t columns) {
  const int threads = threads_of_row(columns);
  return {name, rows, threads, 3 * static_cast<size_t>(threads / warp_size) * sizeof(float)};
}

// --- over a row -------------------------------------------------------------------------------------

// Of some elements x: the largest, Σ e^(x − top), and Σ x.
struct RowSums {
  float top, exponentials, values;
};

GPU_FUNCTION RowSums combined(RowSums a, RowSums b) {
  const float top = fmaxf(a.top, b.top);
  return {top, a.exponentials * expf(a.top - top) + b.exponentials * expf(b.top - top), a.values + b.values};
}

GPU_FUNCTION RowSums warp_sums(RowSums sums) {
#pragma unroll
  for (int mask = warp_size / 2; mask > 0; mask /= 2) {
    const RowSums other = {shuffle_xor(sums.top, mask), shuffle_xor(sums.exponentials, mask),
                           shuffle_xor(sums.values, mask)};
    // In the same order in both lanes, so that they get the same.
    sums = (lane() & mask) == 0 ? combined(sums, other) : combined(other, sums);
  }
  return sums;
}

// Of a whole row, the same in all threads of the block.
GPU_FUNCTION RowSums sums_of_row(const float* x, int64_t columns) {
  RowSums sums = {lowest_float, 0, 0};
  for (int64_t c = thread_index(); c < columns; c += block_threads()) {
    const float value = x[c];
    sums.values += value;
    if (value > sums.top) {
      sums.exponentials = sums.exponentials * expf(sums.top - value) + 1;
      sums.top = value;
    } else {
      sums.exponentials += expf(value - sums.top);
    }
  }
  sums = warp_sums(sums);
  const Shared<float> of_warps = shared<float>(0);
  if (lane() == 0) {
    of_warps[3 * warp_index()] = sums.top;
    of_warps[3 * warp_index() + 1] = sums.exponentials;
    of_warps[3 * warp_index() + 2] = sums.values;
  }
  sync_block();
  sums = {of_warps[0], of_warps[1], of_warps[2]};
  for (int w = 1; w < block_warps(); ++w)
    sums = combined(sums, {of_warps[3 * w], of_warps[3 * w + 1], of_warps[3 * w + 2]});
  sync_block();
  return sums;
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

GPU_KERNEL cross_entropy_kernel(Matrix logits, const int32_t* targets, SmoothedTarget q, bool gradient,
                                float* losses) {
  const int64_t r = block_index();
  float* x = logits.data + r * logits.stride;
  const int32_t target = targets[r];
  const RowSums sums = sums_of_row(x, logits.columns);  // after which all threads have read the row
  if (thread_index() == 0) {
    const float log_sum = logf(sums.exponentials), shifted_target = x[target] - sums.top;
    const float shifted = sums.values - static_cast<float>(logits.columns) * sums.top;
    // −Σ q·log p, with log p = (x − top) − log Σ e^(x − top) and Σ q = 1
    losses[2 * r] = log_sum - (q.right - q.other) * shifted_target - q.other * shifted;
    losses[2 * r + 1] = -(shifted_target - log_sum);
  }
  if (!gradient) return;
  sync_block();
  const float scale = 1 / sums.exponentials;
  for (int64_t c = thread_index(); c < logits.columns; c += block_threads()) {
    const float d = fmaf(expf(x[c] - sums.top), scale, c == target ? -q.right : -q.other);
    if (logits.rounded != nullptr) {
      logits.rounded[r * logits.stride + c] = rounded_to_bf16(d);
    } else {
      x[c] = d;
    }
  }
}

void cross_entropy(Context& context, Matrix logits, const int32_t* targets, Smoothing smoothing,
                   bool gradient, float* losses) {
  launch(context, logits_grid("cross_entropy", logits.rows, logits.columns), cross_entropy_kernel, logits,
         targets, smoothed_target(smoothing, logits.columns), gradient, losses);
}

GPU_KERNEL log_softmax_kernel(Matrix logits) {
  float* x = logits.data + block_index() * logits.stride;
  const RowSums sums = sums_of_row(x, logits.columns);
  const float log_sum = logf(sums.exponentials);
  for (int64_t c = thread_index(); c < logits.columns; c += block_threads()) x[c] = x[c] - sums.top - log_sum;
}

void log_softmax(Context& context, Matrix logits) {
  launch(context, logits_grid("log_softmax", logits.rows, logits.columns), log_softmax_kernel, logits);
}

// The larger of the two is taken out of the sum: then it lies between the smaller share and 1.
GPU_FUNCTION float mixed_log(float a, float b, float share_a, float share_b) {
  const float top = fmaxf(fmaxf(a, b), lowest_float);  // where both are −∞ the sum is 0
  const float sum = fmaf(share_a, expf(a - top), share_b * expf(b - top));
  return sum > 0 ? top + logf(sum) : -INFINITY;
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
GPU_KERNEL top_kernel(ConstMatrix rows, int64_t count, bool after_softmax, Element* largest) {
  const float* x = rows.data + block_index() * rows.row_stride;
  RowOffset offset = {0, 0};
  if (after_softmax) {
    const RowSums sums = sums_of_row(x, rows.columns);
    offset = {sums.top, logf(sums.exponentials)};
  }
  const Shared<float> values = shared<float>(0);
  const Shared<int32_t> columns = shared<int32_t>(static_cast<size_t>(block_warps()) * sizeof(float));
  Element own = next_of_thread(x, rows.columns, offset, {-1, 0});
  for (int64_t n = 0; n < count; ++n) {
    const Element of_warp = warp_leader(own);
    if (lane() == 0) {
      values[warp_index()] = of_warp.value;
      columns[warp_index()] = of_warp.column;
    }
    sync_block();
    Element leader = {columns[0], values[0]};
    for (int w = 1; w < block_warps(); ++w) {
      const Element other = {columns[w], values[w]};
      if (leads(other, leader)) leader = other;
    }
    sync_block();
    if (thread_index() == 0) largest[block_index() * count + n] = leader;
    if (leader.column >= 0 && own.column == leader.column)
      own = next_of_thread(x, rows.columns, offset, leader);
  }
}

void top(Context& context, ConstMatrix rows, int64_t count, Element* largest) {
  launch(context, logits_grid("top", rows.rows, rows.columns), top_kernel, rows, count, false, largest);
}

void top_log_probabilities(Context& context, ConstMatrix logits, int64_t count, Element* largest) {
  launch(context, logits_grid("top_log_probabilities", logits.rows, logits.columns), top_kernel, logits,
         count, true, largest);
}

}  // namespace
}  // namespace dragoman::internal
