// Residual + dropout + layer normalisation (or RMSNorm) in one pass, and the backward. A warp has a row.
#pragma once

#include "kernels/cuda/functions.inl.h"
#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

struct NormOperands {
  ConstMatrix residual, branch;  // the branch may have no data
  const float *gain, *bias;      // without a bias it is RMSNorm
  float epsilon;
  Matrix sum, normed;
  float* statistics;
};

// A lane reads again only what it has written itself.
GPU_KERNEL add_dropout_norm_kernel(NormOperands o, DropoutMask mask) {
  const int64_t r = row_of_warp(), columns = o.normed.columns;
  if (r >= o.normed.rows) return;
  const float* residual = o.residual.data + r * o.residual.row_stride;
  const float* x = residual;
  float total = 0;
  if (o.branch.data != nullptr || o.branch.rounded != nullptr) {
    float* sum = o.sum.data + r * o.sum.stride;
    for_columns(mask, r, columns, [&](int64_t c, float multiplier) {
      const float s = fmaf(element_at(o.branch, r, c), multiplier, residual[c]);
      sum[c] = s;
      total += s;
    });
    x = sum;
  } else {
    for_columns({}, r, columns, [&](int64_t c, float) { total += x[c]; });
  }
  const bool centred = o.bias != nullptr;
  const float count = static_cast<float>(columns);
  const float mean = centred ? warp_sum(total) / count : 0;
  float squares = 0;
  for_columns({}, r, columns, [&](int64_t c, float) { squares = fmaf(x[c] - mean, x[c] - mean, squares); });
  const float inverse = 1 / sqrtf(warp_sum(squares) / count + o.epsilon);
  for_columns({}, r, columns, [&](int64_t c, float) {
    store_at(o.normed, r, c, fmaf((x[c] - mean) * inverse, o.gain[c], centred ? o.bias[c] : 0.0f));
  });
  if (lane() == 0) {
    o.statistics[2 * r] = mean;
    o.statistics[2 * r + 1] = inverse;
  }
}

void add_dropout_norm(Context& context, ConstMatrix residual, ConstMatrix branch, const Dropout& dropout,
                      const float* gain, const float* bias, float epsilon, Matrix sum, Matrix normed,
                      float* statistics) {
  launch(context, row_grid("add_dropout_norm", normed.rows), add_dropout_norm_kernel,
         NormOperands{residual, branch, gain, bias, epsilon, sum, normed, statistics}, dropout_mask(dropout));
}

// --- backward ---------------------------------------------------------------------------------------

struct NormBackward {
  ConstMatrix sum, normed_gradient;
  const float *statistics, *gain;
  bool centred, accumulate;
  Matrix sum_gradient, branch_gradient;
};

// With s the standardised row and h = gain ∘ dy, dx = inverse · (h − mean(h) − s · mean(h ∘ s)). RMSNorm subtracted no
// mean, and has no mean(h).
GPU_KERNEL norm_backward_kernel(NormBackward o, DropoutMask mask) {
  const int64_t r = row_of_warp(), columns = o.sum.columns;
  if (r >= o.sum.rows) return;
  const float* x = o.sum.data + r * o.sum.row_stride;
  const float* dy = o.normed_gradient.data + r * o.normed_gradient.row_stride;
  const float mean = o.statistics[2 * r], inverse = o.statistics[2 * r + 1];
  float total_h = 0, total_hs = 0;
  for_columns({}, r, columns, [&](int64_t c, float) {
    const float h = dy[c] * o.gain[c];
    total_h += h;
    total_hs = fmaf(h, (x[c] - mean) * inverse, total_hs);
  });
  const float count = static_cast<float>(columns);
  const float mean_h = o.centred ? warp_sum(total_h) / count : 0, mean_hs = warp_sum(total_hs) / count;
  float* dx = o.sum_gradient.data + r * o.sum_gradient.stride;
  for_columns(mask, r, columns, [&](int64_t c, float multiplier) {
    const float d = (dy[c] * o.gain[c] - mean_h - (x[c] - mean) * inverse * mean_hs) * inverse;
    const float sum = o.accumulate ? dx[c] + d : d;
    dx[c] = sum;
    store_at(o.branch_gradient, r, c, sum * multiplier);
  });
}

// The sums over a block of rows that gain's and bias's gradients consist of.
GPU_KERNEL norm_parameters_backward_kernel(NormBackward o, float* gain_sums, float* bias_sums) {
  const int64_t columns = o.sum.columns;
  const RowsAndColumn part = summed_part(o.sum.rows, columns);
  const int64_t c = part.column;
  if (c >= columns) return;
  float of_gain = 0, of_bias = 0;
  for (int64_t r = part.begin; r < part.end; ++r) {
    const float dy = o.normed_gradient.data[r * o.normed_gradient.row_stride + c];
    const float s = (o.sum.data[r * o.sum.row_stride + c] - o.statistics[2 * r]) * o.statistics[2 * r + 1];
    of_gain = fmaf(dy, s, of_gain);
    of_bias += dy;
  }
  gain_sums[part.block * columns + c] = of_gain;
  if (bias_sums != nullptr) bias_sums[part.block * columns + c] = of_bias;
}

void add_dropout_norm_backward(Context& context, ConstMatrix sum, ConstMatrix normed_gradient,
                               const float* statistics, const float* gain, const Dropout& dropout,
                               bool accumulate, Matrix sum_gradient, Matrix branch_gradient,
                               float* gain_gradient, float* bias_gradient) {
  const int64_t columns = sum.columns, blocks = ceil_div(sum.rows, summed_rows);
  const NormBackward operands = {sum,        normed_gradient, statistics,     gain, bias_gradient != nullptr,
                                 accumulate, sum_gradient,    branch_gradient};
  float* gain_sums = float_workspace(context, 2 * blocks * columns);
  float* bias_sums = bias_gradient != nullptr ? gain_sums + blocks * columns : nullptr;
  // First what reads the gradient of normed: that of sum may stand in its place.
  launch(context, column_grid("norm_parameters_backward", sum.rows, columns), norm_parameters_backward_kernel,
         operands, gain_sums, bias_sums);
  launch(context, row_grid("norm_backward", sum.rows), norm_backward_kernel, operands, dropout_mask(dropout));
  add_partial_sums(context, gain_sums, blocks, columns, gain_gradient);
  if (bias_gradient != nullptr) add_partial_sums(context, bias_sums, blocks, columns, bias_gradient);
}

}  // namespace
}  // namespace dragoman::internal
