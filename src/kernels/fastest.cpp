#include "kernels/fastest.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "kernels/machine_peaks.h"

namespace dragoman::internal {

bool is_faster(const ProductKernels& one, const ProductKernels& other) {
  constexpr int64_t size = 512;  // in the caches, as most operands of training are
  constexpr int rounds = 5;
  const std::vector<float> operand(size * size, 0.5F);
  std::vector<float> result(size * size);
  CpuContext context(1);
  const auto time = [&](const ProductKernels& products) {
    const double start = seconds(1);
    const ConstMatrix matrix = {operand.data(), size, size, size};
    products.multiply(context, matrix, matrix, {result.data(), size, size, size}, {});
    return seconds(1) - start;
  };
  double first = std::numeric_limits<double>::infinity(), second = first;
  for (int round = 0; round < rounds; ++round) {
    first = std::min(first, time(one));
    second = std::min(second, time(other));
  }
  return first < second;
}

const Kernels& fastest_in_bf16(const Kernels& kernels) {
  // The tables before it have no such instructions, and AMX's compute other bits.
  if (std::string_view(kernels.name) != "avx512bf16") return kernels;
  static const Kernels in_floats = [&] {
    Kernels copy = kernels;
    const LowPrecisionKernels& floats = kernels_for("avx512").low_precision;
    copy.low_precision.rounded = floats.rounded;
    copy.low_precision.rounded_is_fast = floats.rounded_is_fast;
    return copy;
  }();
  static const bool floats_are_faster =
      is_faster(in_floats.low_precision.rounded, kernels.low_precision.rounded);
  return floats_are_faster ? in_floats : kernels;
}

}  // namespace dragoman::internal
