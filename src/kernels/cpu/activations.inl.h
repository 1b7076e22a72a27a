// The backward of bias, activation and dropout, in one pass over the gradient.
#pragma once

#include "kernels/cpu/functions.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/random.inl.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

// Rows of a block that is summed at once; the sums of blocks combine in their order.
constexpr int64_t bias_rows = 64;

// sums[c] += Σ over blocks of partial[block][c]
inline void add_partial_sums(Context& context, const float* partial, int64_t blocks, int64_t columns,
                             float* sums) {
  constexpr int64_t width = 256;
  for_each_task(context, ceil_div(columns, width), [&](int64_t task, int) {
    const int64_t end = smaller(columns, (task + 1) * width);
    for (int64_t c = task * width; c < end; c += lanes) {
      Vec total = load_some(sums + c, end - c);
      for (int64_t b = 0; b < blocks; ++b) total += load_some(partial + b * columns + c, end - c);
      store_some(sums + c, total, end - c);
    }
  });
}

// gradient *= slope(saved), and its columns' sums are added to `partial` where that is not null.
template <class Slope>
void scale_row(const float* saved, float* gradient, int64_t columns, float* partial, const Slope& slope) {
  for (int64_t c = 0; c < columns; c += lanes) {
    const int64_t left = columns - c;
    const Vec g = load_some(gradient + c, left) * slope(load_some(saved + c, left));
    store_some(gradient + c, g, left);
    if (partial != nullptr) store_some(partial + c, load_some(partial + c, left) + g, left);
  }
}

inline void add_row(const float* row, int64_t columns, float* sums) {
  for (int64_t c = 0; c < columns; c += lanes) {
    store_some(sums + c, load_some(sums + c, columns - c) + load_some(row + c, columns - c), columns - c);
  }
}

// One row. relu's output is positive where the activation let pass and dropout kept: its mask needs no second look.
inline void activation_backward_row(Activation activation, const float* saved, float* gradient,
                                    int64_t columns, const DropoutMask& mask, const RowKey* row,
                                    float* partial) {
  if (row != nullptr && activation != Activation::relu) apply_dropout(mask, *row, 0, columns, gradient);
  const Vec kept = all(row != nullptr ? mask.scale : 1.0f);
  switch (activation) {
    case Activation::none:
      if (partial != nullptr) add_row(gradient, columns, partial);
      break;
    case Activation::relu:
      scale_row(saved, gradient, columns, partial, [kept](Vec y) { return y > Vec{} ? kept : Vec{}; });
      break;
    case Activation::gelu:
      scale_row(saved, gradient, columns, partial, [](Vec x) { return gelu_slope(x); });
      break;
    case Activation::gelu_tanh:
      scale_row(saved, gradient, columns, partial, [](Vec x) { return gelu_tanh_slope(x); });
      break;
    case Activation::gelu_sigmoid:
      scale_row(saved, gradient, columns, partial, [](Vec x) { return gelu_sigmoid_slope(x); });
      break;
    case Activation::swish:
      scale_row(saved, gradient, columns, partial, [](Vec x) { return swish_slope(x); });
      break;
  }
}

void activation_backward(Context& context, Activation activation, ConstMatrix saved, Matrix gradient,
                         const Dropout& dropout, float* bias_gradient) {
  if (activation == Activation::none && dropout.rate == 0 && bias_gradient == nullptr) return;
  const DropoutMask mask = dropout_mask(dropout);
  const int64_t blocks = ceil_div(gradient.rows, bias_rows), columns = gradient.columns;
  float* partials = nullptr;
  if (bias_gradient != nullptr) {
    partials =
        static_cast<float*>(cpu(context).shared(static_cast<size_t>(blocks * columns) * sizeof(float)));
  }
  for_each_task(context, blocks, [&](int64_t block, int) {
    float* partial = partials != nullptr ? partials + block * columns : nullptr;
    if (partial != nullptr) fill(partial, columns, 0);
    for (int64_t r = block * bias_rows; r < smaller(gradient.rows, (block + 1) * bias_rows); ++r) {
      activation_backward_row(activation, saved.data + r * saved.row_stride,
                              gradient.data + r * gradient.stride, columns, mask,
                              dropout.rate > 0 ? dropout.rows + r : nullptr, partial);
    }
  });
  if (bias_gradient != nullptr) add_partial_sums(context, partials, blocks, columns, bias_gradient);
}

}  // namespace
}  // namespace dragoman::internal
