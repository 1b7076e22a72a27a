// Rotary positions: each pair of columns of a head is turned by an angle that grows with the position.
#pragma once

#include "kernels/cuda/fours.inl.h"

namespace dragoman::internal {
namespace {

struct Turned {
  float first, second;
};
GPU_FUNCTION Turned turned(float a, float b, float cosine, float sine) {
  return {a * cosine - b * sine, b * cosine + a * sine};
}

GPU_KERNEL rotate_kernel(const RowKey* rows, ConstMatrix angles, float direction, Matrix x) {
  const int64_t r = row_of_warp(), width = angles.columns, half = width / 2;
  if (r >= x.rows) return;
  const float *cosines = angles.data + rows[r].position * angles.row_stride, *sines = cosines + half;
  for_each_column(x.columns / 2, [=](int64_t pair) {
    const int64_t i = pair % half, first = pair / half * width + i, second = first + half;
    const Turned pair_of_columns = turned(element(as_read(x), r, first), element(as_read(x), r, second),
                                          cosines[i], sines[i] * direction);
    set_element(x, r, first, pair_of_columns.first);
    set_element(x, r, second, pair_of_columns.second);
  });
}

// Four columns of x's row r, as it is read and written.
GPU_FUNCTION Four four_of(const Matrix& x, int64_t r, int64_t column) {
  const int64_t place = r * x.stride + column;
  return x.data != nullptr ? load_four(x.data + place) : widened(load_four(x.rounded + place));
}
GPU_FUNCTION void set_four(const Matrix& x, int64_t r, int64_t column, const Four& four) {
  const int64_t place = r * x.stride + column;
  if (x.data != nullptr) store_four(four, x.data + place);
  if (x.rounded != nullptr) store_four(rounded_to_bf16(four), x.rounded + place);
}

GPU_KERNEL rotate_fours_kernel(const RowKey* rows, ConstMatrix angles, float direction, Matrix x) {
  const int64_t r = row_of_warp();
  if (r >= x.rows) return;
  const int width = static_cast<int>(angles.columns), half = width / 2, columns = static_cast<int>(x.columns);
  const float *cosines = angles.data + rows[r].position * angles.row_stride, *sines = cosines + half;
  for (int pair = 4 * lane(); pair < columns / 2; pair += 4 * warp_size) {
    const int i = pair % half, first = pair / half * width + i, second = first + half;
    Four a = four_of(x, r, first), b = four_of(x, r, second);
    const Four cosine = load_four(cosines + i), sine = load_four(sines + i);
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const Turned pair_of_columns = turned(a.x[n], b.x[n], cosine.x[n], sine.x[n] * direction);
      a.x[n] = pair_of_columns.first;
      b.x[n] = pair_of_columns.second;
    }
    set_four(x, r, first, a);
    set_four(x, r, second, b);
  }
}

void rotate(Context& context, const RowKey* rows, ConstMatrix angles, bool back, Matrix x) {
  const bool fours = in_fours(angles) && in_fours(as_read(x)) && angles.columns % 8 == 0;
  launch(context, row_grid("rotate", x.rows), fours ? rotate_fours_kernel : rotate_kernel, rows, angles,
         back ? -1.0f : 1.0f, x);
}

}  // namespace
}  // namespace dragoman::internal
