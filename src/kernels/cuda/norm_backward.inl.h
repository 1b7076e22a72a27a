// The backward of residual + dropout + normalisation, in one pass: a block has some rows, and leaves the sums over them
// that gain's and bias's gradients consist of.
#pragma once

#include "kernels/cuda/norm.inl.h"
#include "kernels/cuda/row_sums.inl.h"

namespace dragoman::internal {
namespace {

constexpr int64_t norm_blocks = 264;  // two for each processor of an H100, all of them running from the start

struct NormBackward {
  ConstMatrix sum, normed_gradient;
  const float *statistics, *gain;
  bool accumulate;
  Matrix sum_gradient, branch_gradient;
  float *gain_sums, *bias_sums;  // of each block of rows; without those of a bias it is RMSNorm
  int64_t summed;                // rows of a block
};

// With s the standardised row and h = gain ∘ dy, dx = inverse · (h − mean(h) − s · mean(h ∘ s)). RMSNorm subtracted no
// mean, and has no mean(h). The gradient of the sum may stand in place of that of normed: a row is read before it is
// written.
template <int steps, class OfNormed>
GPU_KERNEL_OF(summing_threads, steps <= 2 ? 2 : 1)
norm_backward_fours_kernel(NormBackward o, DropoutMask mask) {
  const Shared<float> of_warps = shared<float>(0);
  const int64_t columns = o.sum.columns;
  const float count = static_cast<float>(columns);
  const SummedRows rows = rows_of_block_sum(block_index(), o.summed, o.sum.rows);
  WideRow<steps> of_gain = {}, of_bias = {};
  for (int64_t r = rows.begin + warp_index(); r < rows.end; r += block_warps()) {
    const float mean = o.statistics[2 * r], inverse = o.statistics[2 * r + 1];
    WideRow<steps> s = load_as<float, steps>(o.sum, r),
                   dx = load_as<float, steps>(as_read(o.sum_gradient), r, o.accumulate),
                   h = widened(load_as<OfNormed, steps>(o.normed_gradient, r));
    float total_h = 0, total_hs = 0;
    for_held<steps>(columns, [&](int i, int c) {
      const Four gain = load_four(o.gain + c);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float dy = h.four[i].x[j], standardised = (s.four[i].x[j] - mean) * inverse;
        of_gain.four[i].x[j] = fmaf(dy, standardised, of_gain.four[i].x[j]);
        of_bias.four[i].x[j] += dy;
        const float weighted = dy * gain.x[j];
        total_h += weighted;
        total_hs = fmaf(weighted, standardised, total_hs);
        h.four[i].x[j] = weighted;
        s.four[i].x[j] = standardised;
      }
    });
    total_h = warp_sum(total_h);
    total_hs = warp_sum(total_hs);
    const float mean_h = o.bias_sums != nullptr ? total_h / count : 0, mean_hs = total_hs / count;
    for_held<steps>(columns, [&](int i, int) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float d = (h.four[i].x[j] - mean_h - s.four[i].x[j] * mean_hs) * inverse;
        dx.four[i].x[j] = o.accumulate ? dx.four[i].x[j] + d : d;
      }
    });
    store_row(dx, o.sum_gradient, r);
    if (!is_there(o.branch_gradient)) continue;
    for_dropped<steps>(mask, r, 0, [&](int i, int j, float multiplier) { dx.four[i].x[j] *= multiplier; });
    store_row(dx, o.branch_gradient, r);
  }
  const int width = static_cast<int>(columns);
  add_up_warps(of_gain, width, of_warps, o.gain_sums + block_index() * columns);
  if (o.bias_sums != nullptr) add_up_warps(of_bias, width, of_warps, o.bias_sums + block_index() * columns);
}

// --- any row, in two passes -------------------------------------------------------------------------

// A warp has a row.
GPU_KERNEL norm_backward_kernel(NormBackward o, DropoutMask mask) {
  const int64_t r = row_of_warp(), columns = o.sum.columns;
  if (r >= o.sum.rows) return;
  const float mean = o.statistics[2 * r], inverse = o.statistics[2 * r + 1];
  float total_h = 0, total_hs = 0;
  for_columns({}, r, columns, [&](int64_t c, float) {
    const float h = element(o.normed_gradient, r, c) * o.gain[c];
    total_h += h;
    total_hs = fmaf(h, (element(o.sum, r, c) - mean) * inverse, total_hs);
  });
  const float count = static_cast<float>(columns);
  const float mean_h = o.bias_sums != nullptr ? warp_sum(total_h) / count : 0,
              mean_hs = warp_sum(total_hs) / count;
  for_columns(mask, r, columns, [&](int64_t c, float multiplier) {
    const float h = element(o.normed_gradient, r, c) * o.gain[c];
    const float d = (h - mean_h - (element(o.sum, r, c) - mean) * inverse * mean_hs) * inverse;
    const float sum = o.accumulate ? element(as_read(o.sum_gradient), r, c) + d : d;
    set_element(o.sum_gradient, r, c, sum);
    if (is_there(o.branch_gradient)) set_element(o.branch_gradient, r, c, sum * multiplier);
  });
}

GPU_KERNEL norm_parameters_backward_kernel(NormBackward o) {
  const int64_t columns = o.sum.columns;
  const RowsAndColumn part = summed_part(columns);
  const int64_t c = part.column;
  if (c >= columns) return;
  const SummedRows rows = rows_of_block_sum(part.block, o.summed, o.sum.rows);
  float of_gain = 0, of_bias = 0;
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const float dy = element(o.normed_gradient, r, c);
    const float s = (element(o.sum, r, c) - o.statistics[2 * r]) * o.statistics[2 * r + 1];
    of_gain = fmaf(dy, s, of_gain);
    of_bias += dy;
  }
  o.gain_sums[part.block * columns + c] = of_gain;
  if (o.bias_sums != nullptr) o.bias_sums[part.block * columns + c] = of_bias;
}

// --- either ------------------------------------------------------------------------------------------

using NormBackwardKernel = void (*)(NormBackward, DropoutMask);
template <class OfNormed>
NormBackwardKernel norm_backward_of_steps(int64_t steps) {
  return steps <= 1   ? norm_backward_fours_kernel<1, OfNormed>
         : steps == 2 ? norm_backward_fours_kernel<2, OfNormed>
         : steps == 3 ? norm_backward_fours_kernel<3, OfNormed>
                      : norm_backward_fours_kernel<4, OfNormed>;
}
inline NormBackwardKernel norm_backward_in_fours(const NormBackward& o) {
  const int64_t steps = ceil_div(o.sum.columns, columns_of_step);
  const bool wide = steps <= most_norm_steps && floats_in_fours(o.sum) && in_fours(o.normed_gradient) &&
                    in_fours(o.gain) && floats_in_fours(o.sum_gradient) && in_fours(o.branch_gradient);
  if (!wide) return nullptr;
  return floats_in_fours(o.normed_gradient) ? norm_backward_of_steps<float>(steps)
                                            : norm_backward_of_steps<Bf16>(steps);
}

void add_dropout_norm_backward(Context& context, ConstMatrix sum, ConstMatrix normed_gradient,
                               const float* statistics, const float* gain, const Dropout& dropout,
                               bool accumulate, Matrix sum_gradient, Matrix branch_gradient,
                               float* gain_gradient, float* bias_gradient) {
  const int64_t rows = sum.rows, columns = sum.columns, summed = summed_rows(rows, norm_blocks),
                blocks = ceil_div(rows, summed);
  float* gain_sums = float_workspace(context, 2 * blocks * columns);
  float* bias_sums = bias_gradient != nullptr ? gain_sums + blocks * columns : nullptr;
  const NormBackward operands = {sum,          normed_gradient, statistics, gain,      accumulate,
                                 sum_gradient, branch_gradient, gain_sums,  bias_sums, summed};
  const DropoutMask mask = dropout_mask(dropout);
  if (const NormBackwardKernel kernel = norm_backward_in_fours(operands)) {
    const size_t shared_bytes = static_cast<size_t>(summing_warps * columns) * sizeof(float);
    launch(context, {"norm_backward", blocks, summing_threads, shared_bytes}, kernel, operands, mask);
  } else {
    // First what reads the gradient of normed: that of the sum may stand in its place.
    launch(context, column_grid("norm_parameters_backward", blocks, columns), norm_parameters_backward_kernel,
           operands);
    launch(context, row_grid("norm_backward", rows), norm_backward_kernel, operands, mask);
  }
  add_partial_sums(context, gain_sums, blocks, columns, {gain_gradient, bias_gradient});
}

}  // namespace
}  // namespace dragoman::internal
