// Rotary positions (Su et al., 2021): each pair of columns of a head is turned by an angle that grows with the
// position, so that the product of two rows depends on their distance.
#pragma once

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

void rotate(Context& context, const RowKey* rows, ConstMatrix angles, bool back, Matrix x) {
  const int64_t width = angles.columns, half = width / 2;
  const Vec direction = all(back ? -1.0f : 1.0f);
  for_each_row(context, x.rows, x.columns, [&](int64_t r) {
    const float* cosines = angles.data + rows[r].position * angles.row_stride;
    const float* sines = cosines + half;
    for (int64_t head = 0; head < x.columns; head += width) {
      float *first = x.data + r * x.stride + head, *second = first + half;
      for (int64_t i = 0; i < half; i += lanes) {
        const int64_t left = half - i;
        const Vec a = load_some(first + i, left), b = load_some(second + i, left);
        const Vec cosine = load_some(cosines + i, left), sine = load_some(sines + i, left) * direction;
        store_some(first + i, a * cosine - b * sine, left);
        store_some(second + i, b * cosine + a * sine, left);
      }
    }
  });
}

}  // namespace
}  // namespace dragoman::internal
