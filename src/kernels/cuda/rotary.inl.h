// Rotary positions: each pair of columns of a head is turned by an angle that grows with the position.
#pragma once

#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

GPU_KERNEL rotate_kernel(const RowKey* rows, ConstMatrix angles, float direction, Matrix x) {
  const int64_t r = row_of_warp(), width = angles.columns, half = width / 2;
  if (r >= x.rows) return;
  const float *cosines = angles.data + rows[r].position * angles.row_stride, *sines = cosines + half;
  float* row = x.data + r * x.stride;
  for_each_column(x.columns / 2, [=](int64_t pair) {
    const int64_t i = pair % half;
    float *first = row + pair / half * width + i, *second = first + half;
    const float a = *first, b = *second, sine = sines[i] * direction;
    *first = a * cosines[i] - b * sine;
    *second = b * cosines[i] + a * sine;
  });
}

void rotate(Context& context, const RowKey* rows, ConstMatrix angles, bool back, Matrix x) {
  launch(context, row_grid("rotate", x.rows), rotate_kernel, rows, angles, back ? -1.0f : 1.0f, x);
}

}  // namespace
}  // namespace dragoman::internal
