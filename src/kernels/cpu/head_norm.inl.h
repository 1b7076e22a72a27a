// Heads of queries and keys divided by the root mean square of their columns, in place, and the backward.
#pragma once

#include "kernels/cpu/norm.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

void normalise_heads(Context& context, int64_t width, float epsilon, Matrix x, float* factors) {
  const int64_t heads = x.columns / width;
  for_each_row(context, x.rows, x.columns, [&](int64_t r) {
    for (int64_t h = 0; h < heads; ++h) {
      float* head = x.data + r * x.stride + h * width;
      const float mean = dot(head, head, width) / static_cast<float>(width);
      const float factor = inverse_deviation(mean, epsilon);
      for (int64_t i = 0; i < width; i += lanes)
        store_some(head + i, load_some(head + i, width - i) * all(factor), width - i);
      if (factors != nullptr) factors[r * heads + h] = factor;
    }
  });
}

// With y = factor · x: dx = factor · (dy − y · mean(y ∘ dy)).
void normalise_heads_backward(Context& context, int64_t width, ConstMatrix normed, const float* factors,
                              Matrix gradient) {
  const int64_t heads = gradient.columns / width;
  for_each_row(context, gradient.rows, gradient.columns, [&](int64_t r) {
    for (int64_t h = 0; h < heads; ++h) {
      const float* y = normed.data + r * normed.row_stride + h * width;
      float* d = gradient.data + r * gradient.stride + h * width;
      const Vec mean = all(dot(y, d, width) / static_cast<float>(width)),
                factor = all(factors[r * heads + h]);
      for (int64_t i = 0; i < width; i += lanes) {
        const int64_t left = width - i;
        store_some(d + i, factor * (load_some(d + i, left) - load_some(y + i, left) * mean), left);
      }
    }
  });
}

}  // namespace
}  // namespace dragoman::internal
