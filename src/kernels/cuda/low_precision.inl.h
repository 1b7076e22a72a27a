// Products with a low-precision right operand (LowPrecisionMatrix): in bf16. The bytes of int8 are exact in it, so that
// their scales come afterwards, and only the left operand is rounded.
#pragma once

#include "kernels/cuda/products.inl.h"

namespace dragoman::internal {
namespace {

constexpr int64_t inner_of_line(Precision precision) { return precision == Precision::int8 ? 4 : 2; }
GPU_FUNCTION int64_t line_count(const LowPrecisionMatrix& b) {
  return ceil_div(b.rows, inner_of_line(b.precision));
}

// Where the column's 4 bytes of its panel's first line are.
GPU_FUNCTION int64_t place_of(const LowPrecisionMatrix& b, int64_t column) {
  return column / low_precision_panel_columns * line_count(b) * low_precision_line_bytes +
         column % low_precision_panel_columns * low_precision_column_bytes;
}

// An int8's integer, or a bf16, as a float.
GPU_FUNCTION float element_of(const LowPrecisionMatrix& b, int64_t k, int64_t column) {
  const int64_t of_line = inner_of_line(b.precision);
  const unsigned char* element =
      b.data + place_of(b, column) + k / of_line * low_precision_line_bytes + k % of_line * (4 / of_line);
  if (b.precision == Precision::int8) return static_cast<float>(*element - 128);
  return low_half(static_cast<uint32_t>(element[0]) | static_cast<uint32_t>(element[1]) << 8);
}

// --- products ---------------------------------------------------------------------------------------

GPU_KERNEL widen_kernel(LowPrecisionMatrix b, int64_t stride, Bf16* to) {
  const int64_t k = row_of_warp();
  if (k >= b.rows) return;
  for_each_column(b.columns, [=](int64_t j) { to[k * stride + j] = rounded_to_bf16(element_of(b, k, j)); });
}

void low_precision_product(Context& context, ConstMatrix a, const LowPrecisionMatrix& b, Matrix c,
                           const Epilogue& epilogue) {
  const int64_t stride = row_elements(b.columns);
  const int64_t wide_floats = ceil_div(bf16_floats(b.rows, b.columns), 64) * 64;
  float* memory = float_workspace(context, rounded_floats(a) + wide_floats);
  const MatmulOperand left = rounded_operand(context, a, memory);
  Bf16* wide = reinterpret_cast<Bf16*>(memory + rounded_floats(a));
  launch(context, row_grid("widen", b.rows), widen_kernel, b, stride, wide);
  run_product(context, {Arithmetic::bf16, left, {wide, b.rows, b.columns, stride, false}, c},
              b.precision == Precision::int8 ? b.scales : nullptr, epilogue);
}

GPU_KERNEL widen_columns_kernel(LowPrecisionMatrix b, const int32_t* columns, Matrix out) {
  const int64_t r = row_of_warp();
  if (r >= out.rows) return;
  const int32_t column = columns[r];
  const float scale = b.precision == Precision::int8 ? b.scales[column] : 1;
  for_each_column(b.rows,
                  [=](int64_t k) { out.data[r * out.stride + k] = element_of(b, k, column) * scale; });
}

void widen_columns(Context& context, const LowPrecisionMatrix& b, const int32_t* columns, Matrix out) {
  launch(context, row_grid("widen_columns", out.rows), widen_columns_kernel, b, columns, out);
}

}  // namespace
}  // namespace dragoman::internal
