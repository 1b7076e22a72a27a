// The twin of cuBLASLt: products by the CPU's portable kernels, whose rows have the same bits in any batch, of operands
// that are rounded as a GPU rounds them.
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/cuda/host/context.h"
#include "kernels/cuda/host/far_memory.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

// To 10 bits behind the leading one, of two equally near the one farther from zero. NaN and infinity stay as they are.
float rounded_to_tf32(float x) {
  constexpr uint32_t exponent = 0x7f800000, half = 0x1000, dropped = 0x1fff;
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & exponent) == exponent) return x;
  return std::bit_cast<float>((bits + half) & ~dropped);
}

float widened(uint16_t bf16) { return std::bit_cast<float>(uint32_t{bf16} << 16); }

// To the nearest, ties to even; NaN stays NaN.
uint16_t rounded_to_bf16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (std::isnan(x)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// A copy in floats, rows side by side.
template <class T, class Convert>
ConstMatrix converted(const MatmulOperand& from, on_host::Scratch& scratch, Convert convert) {
  auto* const to =
      static_cast<float*>(scratch.get(static_cast<size_t>(from.rows * from.columns) * sizeof(float)));
  const auto* const data = static_cast<const T*>(from.data);
  for (int64_t r = 0; r < from.rows; ++r)
    for (int64_t c = 0; c < from.columns; ++c) to[r * from.columns + c] = convert(data[r * from.stride + c]);
  return {to, from.rows, from.columns, from.columns};
}

ConstMatrix in_floats(Arithmetic arithmetic, const MatmulOperand& operand, on_host::Scratch& scratch) {
  switch (arithmetic) {
    case Arithmetic::tf32:
      return converted<float>(operand, scratch, rounded_to_tf32);
    case Arithmetic::bf16:
      return converted<uint16_t>(operand, scratch, widened);
    case Arithmetic::fp32:
      break;
  }
  return {static_cast<const float*>(operand.data), operand.rows, operand.columns, operand.stride};
}

// A matrix in bf16, in floats; and back.
Matrix widened(const Matrix& c, on_host::Scratch& scratch) {
  auto* const to = static_cast<float*>(scratch.get(static_cast<size_t>(c.rows * c.columns) * sizeof(float)));
  for (int64_t r = 0; r < c.rows; ++r)
    for (int64_t j = 0; j < c.columns; ++j) to[r * c.columns + j] = widened(c.rounded[r * c.stride + j]);
  return {to, c.rows, c.columns, c.columns};
}

void round_into(const Matrix& from, const Matrix& to) {
  for (int64_t r = 0; r < to.rows; ++r)
    for (int64_t j = 0; j < to.columns; ++j)
      to.rounded[r * to.stride + j] = rounded_to_bf16(from.data[r * from.stride + j]);
}

}  // namespace

void HostGpuContext::multiply(const Matmul& product) {
  const on_host::KernelAccess access;
  const ConstMatrix a = in_floats(product.arithmetic, product.a, a_),
                    b = in_floats(product.arithmetic, product.b, b_);
  static const ProductKernels& products = kernels_for("baseline").products;
  const bool rounded = in_bf16(product.c);
  Matrix c = rounded ? widened(product.c, c_) : product.c;
  const auto* bias = static_cast<const float*>(product.bias);
  if (rounded && product.bias != nullptr) {
    auto* const from = static_cast<uint16_t*>(const_cast<void*>(product.bias));
    bias = widened({nullptr, 1, c.columns, c.columns, from}, bias_).data;
  }
  products.multiply(cpu_, product.a.transposed ? a.transposed() : a,
                    product.b.transposed ? b.transposed() : b, c,
                    {.accumulate = product.accumulate,
                     .bias = bias,
                     .activation = product.relu ? Activation::relu : Activation::none});
  if (rounded) round_into(c, product.c);
}

}  // namespace dragoman::internal
