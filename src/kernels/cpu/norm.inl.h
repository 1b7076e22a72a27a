// Residual + dropout + layer normalisation (or RMSNorm) in one pass, and the backward.
#pragma once

#include "kernels/cpu/activations.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/random.inl.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

inline float row_sum(const float* x, int64_t columns) {
  Vec total = {};
  for (int64_t c = 0; c < columns; c += lanes) total += load_some(x + c, columns - c);
  return sum(total);
}

// Σ (x − mean)²; the lanes beyond the row's end would add mean² and are left out.
inline float squared_deviation(const float* x, int64_t columns, float mean) {
  Vec total = {};
  int64_t c = 0;
  for (; c + lanes <= columns; c += lanes) {
    const Vec d = load(x + c) - all(mean);
    total = multiply_add(d, d, total);
  }
  if (c < columns) {
    float tail[lanes];
    store(tail, all(mean));
    store_first(tail, load_first(x + c, columns - c), columns - c);
    const Vec d = load(tail) - all(mean);
    total = multiply_add(d, d, total);
  }
  return sum(total);
}

inline void add_dropped_row(const float* residual, const float* branch, int64_t columns,
                            const DropoutMask& mask, const RowKey* row, float* sum_row) {
  for (int64_t begin = 0; begin < columns; begin += dropout_block) {
    float multipliers[dropout_block];
    if (row != nullptr) dropout_multipliers(mask, *row, 0, begin / dropout_block, multipliers);
    for (int64_t c = begin; c < smaller(columns, begin + dropout_block); c += lanes) {
      const int64_t left = columns - c;
      const Vec b = load_some(branch + c, left), r = load_some(residual + c, left);
      store_some(sum_row + c, row != nullptr ? multiply_add(b, load(multipliers + (c - begin)), r) : b + r,
                 left);
    }
  }
}

// NaN where the variance is not finite, so that all of the row is NaN and not only some of it, or none.
inline float inverse_deviation(float variance, float epsilon) {
  const float inverse = 1.0f / __builtin_sqrtf(variance + epsilon);
  return inverse > 0 ? inverse : __builtin_nanf("");
}

void add_dropout_norm(Context& context, ConstMatrix residual, ConstMatrix branch, const Dropout& dropout,
                      const float* gain, const float* bias, float epsilon, Matrix sum_out, Matrix normed,
                      float* statistics) {
  const DropoutMask mask = dropout_mask(dropout);
  const int64_t columns = residual.columns;
  for_each_row(context, residual.rows, columns, [&](int64_t r) {
    const float* x = residual.data + r * residual.row_stride;
    if (branch.data != nullptr) {
      float* total = sum_out.data + r * sum_out.stride;
      add_dropped_row(x, branch.data + r * branch.row_stride, columns, mask,
                      dropout.rate > 0 ? dropout.rows + r : nullptr, total);
      x = total;
    }
    const float mean = bias != nullptr ? row_sum(x, columns) / static_cast<float>(columns) : 0;
    const float variance = squared_deviation(x, columns, mean) / static_cast<float>(columns);
    const float inverse = inverse_deviation(variance, epsilon);
    float* y = normed.data + r * normed.stride;
    for (int64_t c = 0; c < columns; c += lanes) {
      const int64_t left = columns - c;
      const Vec standard = (load_some(x + c, left) - all(mean)) * all(inverse);
      const Vec b = bias != nullptr ? load_some(bias + c, left) : Vec{};
      store_some(y + c, multiply_add(standard, load_some(gain + c, left), b), left);
    }
    statistics[2 * r] = mean;
    statistics[2 * r + 1] = inverse;
  });
}

// One row's backward: with s the standardised row and h = gain ∘ dy, dx = inverse · (h − mean(h) − s · mean(h ∘ s)).
// Without sums for a bias it is RMSNorm's, which has no mean(h): no mean was subtracted.
struct NormRow {
  const float* x;
  const float* dy;
  float mean, inverse;

  Vec standard(int64_t c, int64_t left) const { return (load_some(x + c, left) - all(mean)) * all(inverse); }
};

inline void norm_row_backward(const NormRow& row, const float* gain, int64_t columns, bool accumulate,
                              float* dx, float* gain_sums, float* bias_sums) {
  Vec sum_h = {}, sum_hs = {};
  for (int64_t c = 0; c < columns; c += lanes) {
    const int64_t left = columns - c;
    const Vec dy = load_some(row.dy + c, left), s = row.standard(c, left);
    const Vec h = dy * load_some(gain + c, left);
    sum_h += h;
    sum_hs = multiply_add(h, s, sum_hs);
    store_some(gain_sums + c, multiply_add(dy, s, load_some(gain_sums + c, left)), left);
    if (bias_sums != nullptr) store_some(bias_sums + c, load_some(bias_sums + c, left) + dy, left);
  }
  const Vec mean_h = bias_sums != nullptr ? all(sum(sum_h) / static_cast<float>(columns)) : Vec{};
  const Vec mean_hs = all(sum(sum_hs) / static_cast<float>(columns));
  for (int64_t c = 0; c < columns; c += lanes) {
    const int64_t left = columns - c;
    const Vec h = load_some(row.dy + c, left) * load_some(gain + c, left);
    const Vec d = (h - mean_h - row.standard(c, left) * mean_hs) * all(row.inverse);
    store_some(dx + c, accumulate ? load_some(dx + c, left) + d : d, left);
  }
}

inline void copy_dropped_row(const float* from, int64_t columns, const DropoutMask& mask, const RowKey* row,
                             float* to) {
  for (int64_t c = 0; c < columns; c += lanes)
    store_some(to + c, load_some(from + c, columns - c), columns - c);
  if (row != nullptr) apply_dropout(mask, *row, 0, columns, to);
}

void add_dropout_norm_backward(Context& context, ConstMatrix sum_in, ConstMatrix normed_gradient,
                               const float* statistics, const float* gain, const Dropout& dropout,
                               bool accumulate, Matrix sum_gradient, Matrix branch_gradient,
                               float* gain_gradient, float* bias_gradient) {
  const DropoutMask mask = dropout_mask(dropout);
  const int64_t columns = sum_in.columns, blocks = ceil_div(sum_in.rows, bias_rows);
  const size_t bytes = static_cast<size_t>(2 * blocks * columns) * sizeof(float);
  float* partials =
      static_cast<float*>(cpu(context).shared(bytes));  // all blocks' for the gain, then all for the bias
  for_each_task(context, blocks, [&](int64_t block, int) {
    float* gain_sums = partials + block * columns;
    float* bias_sums = bias_gradient != nullptr ? partials + (blocks + block) * columns : nullptr;
    fill(gain_sums, columns, 0);
    if (bias_sums != nullptr) fill(bias_sums, columns, 0);
    for (int64_t r = block * bias_rows; r < smaller(sum_in.rows, (block + 1) * bias_rows); ++r) {
      const NormRow row = {sum_in.data + r * sum_in.row_stride,
                           normed_gradient.data + r * normed_gradient.row_stride, statistics[2 * r],
                           statistics[2 * r + 1]};
      float* dx = sum_gradient.data + r * sum_gradient.stride;
      norm_row_backward(row, gain, columns, accumulate, dx, gain_sums, bias_sums);
      if (branch_gradient.data != nullptr) {
        copy_dropped_row(dx, columns, mask, dropout.rate > 0 ? dropout.rows + r : nullptr,
                         branch_gradient.data + r * branch_gradient.stride);
      }
    }
  });
  add_partial_sums(context, partials, blocks, columns, gain_gradient);
  if (bias_gradient != nullptr)
    add_partial_sums(context, partials + blocks * columns, blocks, columns, bias_gradient);
}

}  // namespace
}  // namespace dragoman::internal
