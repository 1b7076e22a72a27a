// Heads of queries and keys divided by the root mean square of their columns, in place. A warp has a head of a row.
#pragma once

#include "kernels/cuda/norm.inl.h"
#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

struct HeadOfRow {
  int64_t row, first;  // column
};
GPU_FUNCTION HeadOfRow head_of_warp(int64_t heads, int64_t width) {
  const int64_t number = row_of_warp();
  return {number / heads, number % heads * width};
}

GPU_KERNEL normalise_heads_kernel(int64_t width, float epsilon, Matrix x, float* factors) {
  const int64_t heads = x.columns / width;
  const auto [r, first] = head_of_warp(heads, width);
  if (r >= x.rows) return;
  float squares = 0;
  for (int64_t i = lane(); i < width; i += warp_size) {
    const float value = element(as_read(x), r, first + i);
    squares = fmaf(value, value, squares);
  }
  const float factor = inverse_deviation(warp_sum(squares) / static_cast<float>(width), epsilon);
  for (int64_t i = lane(); i < width; i += warp_size)
    set_element(x, r, first + i, factor * element(as_read(x), r, first + i));
  if (factors != nullptr && lane() == 0) factors[r * heads + first / width] = factor;
}

GPU_KERNEL normalise_heads_backward_kernel(int64_t width, ConstMatrix normed, const float* factors,
                                           Matrix gradient) {
  const int64_t heads = gradient.columns / width;
  const auto [r, first] = head_of_warp(heads, width);
  if (r >= gradient.rows) return;
  float products = 0;
  for (int64_t i = lane(); i < width; i += warp_size)
    products = fmaf(element(normed, r, first + i), element(as_read(gradient), r, first + i), products);
  const float mean = warp_sum(products) / static_cast<float>(width);
  const float factor = factors[r * heads + first / width];
  for (int64_t i = lane(); i < width; i += warp_size) {
    const float d = element(as_read(gradient), r, first + i);
    set_element(gradient, r, first + i, factor * (d - element(normed, r, first + i) * mean));
  }
}

void normalise_heads(Context& context, int64_t width, float epsilon, Matrix x, float* factors) {
  launch(context, row_grid("normalise_heads", x.rows * (x.columns / width)), normalise_heads_kernel, width,
         epsilon, x, factors);
}

void normalise_heads_backward(Context& context, int64_t width, ConstMatrix normed, const float* factors,
                              Matrix gradient) {
  launch(context, row_grid("normalise_heads_backward", gradient.rows * (gradient.columns / width)),
         normalise_heads_backward_kernel, width, normed, factors, gradient);
}

}  // namespace
}  // namespace dragoman::internal
