// The backward of bias, activation and dropout, in one pass over the gradient.
#pragma once

#include "kernels/cuda/functions.inl.h"
#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

// A thread goes down a column of a block of rows. relu's output is positive where the activation let pass and dropout
// kept: its mask needs no second look.
GPU_KERNEL activation_backward_kernel(Activation activation, ConstMatrix saved, Matrix gradient,
                                      DropoutMask mask, float* partial) {
  const RowsAndColumn part = summed_part(gradient.rows, gradient.columns);
  const int64_t c = part.column;
  if (c >= gradient.columns) return;
  float sum = 0;
  for (int64_t r = part.begin; r < part.end; ++r) {
    float g = element_at(
        {gradient.data, gradient.rows, gradient.columns, gradient.stride, 1, gradient.rounded}, r, c);
    if (activation == Activation::relu) {
      g *= element_at(saved, r, c) > 0 ? mask.drops ? mask.scale : 1.0f : 0.0f;
    } else if (activation != Activation::none || mask.drops) {
      g *= dropout_multiplier_at(mask, r, 0, c);
      if (activation != Activation::none) g *= activation_slope(activation, element_at(saved, r, c));
    }
    store_at(gradient, r, c, g);
    sum += g;
  }
  if (partial != nullptr) partial[part.block * gradient.columns + c] = sum;
}

void activation_backward(Context& context, Activation activation, ConstMatrix saved, Matrix gradient,
                         const Dropout& dropout, float* bias_gradient) {
  if (activation == Activation::none && dropout.rate == 0 && bias_gradient == nullptr &&
      gradient.rounded == nullptr)
    return;
  const int64_t blocks = ceil_div(gradient.rows, summed_rows), columns = gradient.columns;
  float* partial = bias_gradient != nullptr ? float_workspace(context, blocks * columns) : nullptr;
  launch(context, column_grid("activation_backward", gradient.rows, columns), activation_backward_kernel,
         activation, saved, gradient, dropout_mask(dropout), partial);
  if (bias_gradient != nullptr) add_partial_sums(context, partial, blocks, columns, bias_gradient);
}

}  // namespace
}  // namespace dragoman::internal
