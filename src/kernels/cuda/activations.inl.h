// The backward of bias, activation and dropout, in one pass over the gradient.
#pragma once

#include "kernels/cuda/row_sums.inl.h"

namespace dragoman::internal {
namespace {

// Six for each processor of an H100, where two or three run at once.
constexpr int64_t activation_blocks = 792;

struct ActivationBackward {
  Activation activation;
  ConstMatrix saved;  // not read where there is no activation
  Matrix gradient;
  float* sums;     // of each block of rows; null: none
  int64_t summed;  // rows of a block
};

// What is written: a gradient that does not change is rounded at most.
GPU_FUNCTION Matrix written_gradient(const ActivationBackward& o, const DropoutMask& mask) {
  Matrix to = o.gradient;
  if (o.activation != Activation::none || mask.drops) return to;
  if (to.data == nullptr) to.rounded = nullptr;
  to.data = nullptr;
  return to;
}

// --- in fours ---------------------------------------------------------------------------------------

// A lane's columns of every eighth row, as a warp of a block takes them.
template <class T, int count>
struct RowsInFlight {
  RowOf<T, 1> row[count];
};
template <class T, int count>
GPU_FUNCTION RowsInFlight<T, count> load_rows(const ConstMatrix& m, int64_t row, int64_t end) {
  RowsInFlight<T, count> rows;
#pragma unroll
  for (int n = 0; n < count; ++n) {
    const int64_t r = row + n * summing_warps;
    rows.row[n] = load_as<T, 1>(m, r, r < end);
  }
  return rows;
}

// relu's output is positive where the activation let pass and dropout kept: its mask needs no second look.
template <bool general>
GPU_FUNCTION void multiply_by_slopes(const ActivationBackward& o, const DropoutMask& mask, int64_t row,
                                     int64_t first, const WideRow<1>& saved, WideRow<1>& x) {
  if constexpr (general) {
    for_dropped<1>(mask, row, first, [&](int i, int j, float multiplier) {
      x.four[i].x[j] *= multiplier;
      if (o.activation != Activation::none)
        x.four[i].x[j] *= activation_slope(o.activation, saved.four[i].x[j]);
    });
  } else if (o.activation == Activation::relu) {
#pragma unroll
    for (int n = 0; n < columns_of_lane; ++n)
      x.four[n / 4].x[n % 4] *= saved.four[n / 4].x[n % 4] > 0 ? mask.scale : 0.0f;
  }
}

// A block has some rows of the columns that a warp takes at once. `general`: an activation other than relu, or dropout
// without one.
template <class OfGradient, class OfSaved, bool general>
GPU_KERNEL_OF(summing_threads, general || sizeof(OfGradient) + sizeof(OfSaved) == 4 ? 3 : 2)
activation_backward_fours_kernel(ActivationBackward o, DropoutMask mask) {
  constexpr int at_once = general ? 1 : 4;
  const Shared<float> of_warps = shared<float>(0);
  const int64_t columns = o.gradient.columns, runs = ceil_div(columns, columns_of_step),
                first = block_index() % runs * columns_of_step;
  const SummedRows rows = rows_of_block_sum(block_index() / runs, o.summed, o.gradient.rows);
  const ConstMatrix gradient = as_read(from_column(o.gradient, first)), saved = from_column(o.saved, first);
  const Matrix to = from_column(written_gradient(o, mask), first);
  WideRow<1> sums = {};
  for (int64_t r = rows.begin + warp_index(); r < rows.end; r += at_once * summing_warps) {
    const auto read = load_rows<OfGradient, at_once>(gradient, r, rows.end);
    const auto of_forward =
        load_rows<OfSaved, at_once>(saved, r, o.activation != Activation::none ? rows.end : 0);
#pragma unroll
    for (int n = 0; n < at_once; ++n) {
      const int64_t row = r + n * summing_warps;
      if (row >= rows.end) break;
      WideRow<1> x = widened(read.row[n]);
      multiply_by_slopes<general>(o, mask, row, first, widened(of_forward.row[n]), x);
      store_row(x, to, row);
#pragma unroll
      for (int i = 0; i < columns_of_lane; ++i) sums.four[i / 4].x[i % 4] += x.four[i / 4].x[i % 4];
    }
  }
  if (o.sums == nullptr) return;
  const int64_t width = columns - first < columns_of_step ? columns - first : columns_of_step;
  add_up_warps(sums, static_cast<int>(width), of_warps, o.sums + block_index() / runs * columns + first);
}

// --- any columns ------------------------------------------------------------------------------------

// A thread goes down a column of a block of rows.
GPU_KERNEL activation_backward_kernel(ActivationBackward o, DropoutMask mask) {
  const int64_t columns = o.gradient.columns;
  const RowsAndColumn part = summed_part(columns);
  const int64_t c = part.column;
  if (c >= columns) return;
  const SummedRows rows = rows_of_block_sum(part.block, o.summed, o.gradient.rows);
  const Matrix to = written_gradient(o, mask);
  float sum = 0;
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    float g = element(as_read(o.gradient), r, c);
    if (o.activation == Activation::relu) {
      g *= element(o.saved, r, c) > 0 ? mask.scale : 0.0f;
    } else {
      g *= dropout_multiplier_at(mask, r, 0, c);
      if (o.activation != Activation::none) g *= activation_slope(o.activation, element(o.saved, r, c));
    }
    set_element(to, r, c, g);
    sum += g;
  }
  if (o.sums != nullptr) o.sums[part.block * columns + c] = sum;
}

// --- either -----------------------------------------------------------------------------------------

using ActivationKernel = void (*)(ActivationBackward, DropoutMask);
template <class OfGradient, class OfSaved>
ActivationKernel activation_kernel_of(bool general) {
  return general ? activation_backward_fours_kernel<OfGradient, OfSaved, true>
                 : activation_backward_fours_kernel<OfGradient, OfSaved, false>;
}
inline ActivationKernel activation_kernel_in_fours(const ActivationBackward& o, const DropoutMask& mask) {
  const bool has_saved = o.activation != Activation::none;
  if (!in_fours(o.gradient) || (has_saved && !in_fours(o.saved))) return nullptr;
  const bool general = has_saved ? o.activation != Activation::relu : mask.drops;
  const bool floats = o.gradient.data != nullptr, floats_saved = !has_saved || o.saved.data != nullptr;
  if (floats)
    return floats_saved ? activation_kernel_of<float, float>(general)
                        : activation_kernel_of<float, Bf16>(general);
  return floats_saved ? activation_kernel_of<Bf16, float>(general)
                      : activation_kernel_of<Bf16, Bf16>(general);
}

void activation_backward(Context& context, Activation activation, ConstMatrix saved, Matrix gradient,
                         const Dropout& dropout, float* bias_gradient) {
  const bool changes = activation != Activation::none || dropout.rate > 0;
  const bool is_rounded = gradient.data != nullptr && gradient.rounded != nullptr;
  if (!changes && !is_rounded && bias_gradient == nullptr) return;
  const int64_t rows = gradient.rows, columns = gradient.columns;
  const int64_t runs = ceil_div(columns, columns_of_step);
  const int64_t summed = summed_rows(rows, ceil_div(activation_blocks, runs > 0 ? runs : 1)),
                blocks = ceil_div(rows, summed);
  float* sums = bias_gradient != nullptr ? float_workspace(context, blocks * columns) : nullptr;
  const ActivationBackward operands = {activation, saved, gradient, sums, summed};
  const DropoutMask mask = dropout_mask(dropout);
  constexpr size_t shared_bytes = summing_warps * columns_of_step * sizeof(float);
  if (const ActivationKernel kernel = activation_kernel_in_fours(operands, mask))
    launch(context, {"activation_backward", blocks * runs, summing_threads, shared_bytes}, kernel, operands,
           mask);
  else
    launch(context, column_grid("activation_backward", blocks, columns), activation_backward_kernel, operands,
           mask);
  if (bias_gradient != nullptr) add_partial_sums(context, sums, blocks, columns, {bias_gradient});
}

}  // namespace
}  // namespace dragoman::internal
