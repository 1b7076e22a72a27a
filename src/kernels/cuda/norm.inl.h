// Residual + dropout + layer normalisation (or RMSNorm) in one pass. A warp has a row.
#pragma once

#include "kernels/cuda/fours.inl.h"

namespace dragoman::internal {
namespace {

struct NormOperands {
  ConstMatrix residual, branch;  // the branch may have no data
  const float *gain, *bias;      // without a bias it is RMSNorm
  float epsilon;
  Matrix sum, normed;
  float* statistics;
};

constexpr int most_norm_steps = 4;  // of a row that a warp holds in registers

// NaN where the variance is not finite, so that all of the row is NaN and not only some of it, or none.
GPU_FUNCTION float inverse_deviation(float variance, float epsilon) {
  const float inverse = 1 / sqrtf(variance + epsilon);
  return inverse > 0 ? inverse : NAN;
}

// A row in registers: each number is read once.
template <int steps, class OfBranch>
GPU_KERNEL add_dropout_norm_fours_kernel(NormOperands o, DropoutMask mask) {
  const int64_t r = row_of_warp(), columns = o.normed.columns;
  if (r >= o.normed.rows) return;
  WideRow<steps> x = load_as<float, steps>(o.residual, r);
  const auto of_branch = load_as<OfBranch, steps>(o.branch, r, is_there(o.branch));
  if (is_there(o.branch)) {
    const WideRow<steps> branch = widened(of_branch);
    for_dropped<steps>(mask, r, 0, [&](int i, int j, float multiplier) {
      x.four[i].x[j] = fmaf(branch.four[i].x[j], multiplier, x.four[i].x[j]);
    });
    store_row(x, o.sum, r);
  }
  const bool centred = o.bias != nullptr;
  const float count = static_cast<float>(columns);
  float total = 0, squares = 0;
  for_held<steps>(columns, [&](int i, int) {
    for (float each : x.four[i].x) total += each;
  });
  const float mean = centred ? warp_sum(total) / count : 0;
  for_held<steps>(columns, [&](int i, int) {
    const bool there = column_of_four(i) < columns;
    for (float each : x.four[i].x) {
      const float difference = there ? each - mean : 0.0f;
      squares = fmaf(difference, difference, squares);
    }
  });
  const float inverse = inverse_deviation(warp_sum(squares) / count, o.epsilon);
  for_held<steps>(columns, [&](int i, int c) {
    const Four gain = load_four(o.gain + c), bias = centred ? load_four(o.bias + c) : Four{};
#pragma unroll
    for (int j = 0; j < 4; ++j)
      x.four[i].x[j] = fmaf((x.four[i].x[j] - mean) * inverse, gain.x[j], bias.x[j]);
  });
  store_row(x, o.normed, r);
  if (lane() == 0) {
    o.statistics[2 * r] = mean;
    o.statistics[2 * r + 1] = inverse;
  }
}

// Any row, to the same bits. A lane reads again only what it has written itself.
GPU_KERNEL add_dropout_norm_kernel(NormOperands o, DropoutMask mask) {
  const int64_t r = row_of_warp(), columns = o.normed.columns;
  if (r >= o.normed.rows) return;
  ConstMatrix x = o.residual;
  float total = 0;
  if (is_there(o.branch)) {
    for_columns(mask, r, columns, [&](int64_t c, float multiplier) {
      const float s = fmaf(element(o.branch, r, c), multiplier, element(o.residual, r, c));
      set_element(o.sum, r, c, s);
      total += s;
    });
    x = as_read(o.sum);
  } else {
    for_columns({}, r, columns, [&](int64_t c, float) { total += element(x, r, c); });
  }
  const bool centred = o.bias != nullptr;
  const float count = static_cast<float>(columns);
  const float mean = centred ? warp_sum(total) / count : 0;
  float squares = 0;
  for_columns({}, r, columns, [&](int64_t c, float) {
    const float difference = element(x, r, c) - mean;
    squares = fmaf(difference, difference, squares);
  });
  const float inverse = inverse_deviation(warp_sum(squares) / count, o.epsilon);
  for_columns({}, r, columns, [&](int64_t c, float) {
    const float standardised = (element(x, r, c) - mean) * inverse;
    set_element(o.normed, r, c, fmaf(standardised, o.gain[c], centred ? o.bias[c] : 0.0f));
  });
  if (lane() == 0) {
    o.statistics[2 * r] = mean;
    o.statistics[2 * r + 1] = inverse;
  }
}

using NormKernel = void (*)(NormOperands, DropoutMask);
template <class OfBranch>
NormKernel norm_kernel_of_steps(int64_t steps) {
  return steps <= 1   ? add_dropout_norm_fours_kernel<1, OfBranch>
         : steps == 2 ? add_dropout_norm_fours_kernel<2, OfBranch>
         : steps == 3 ? add_dropout_norm_fours_kernel<3, OfBranch>
                      : add_dropout_norm_fours_kernel<4, OfBranch>;
}
inline NormKernel norm_kernel(const NormOperands& o) {
  const int64_t steps = ceil_div(o.normed.columns, columns_of_step);
  const bool wide = steps <= most_norm_steps && floats_in_fours(o.residual) && in_fours(o.branch) &&
                    in_fours(o.sum) && in_fours(o.normed) && in_fours(o.gain) && in_fours(o.bias);
  if (!wide) return add_dropout_norm_kernel;
  return floats_in_fours(o.branch) ? norm_kernel_of_steps<float>(steps) : norm_kernel_of_steps<Bf16>(steps);
}

void add_dropout_norm(Context& context, ConstMatrix residual, ConstMatrix branch, const Dropout& dropout,
                      const float* gain, const float* bias, float epsilon, Matrix sum, Matrix normed,
                      float* statistics) {
  const NormOperands operands = {residual, branch, gain, bias, epsilon, sum, normed, statistics};
  launch(context, row_grid("add_dropout_norm", normed.rows), norm_kernel(operands), operands,
         dropout_mask(dropout));
}

}  // namespace
}  // namespace dragoman::internal
