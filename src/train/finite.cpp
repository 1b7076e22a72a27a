#include "train/finite.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace dragoman::internal {

// By bits, and without leaving a block early, so that the compiler uses vectors.
bool all_finite(std::span<const float> values) {
  constexpr size_t block = 4096;
  constexpr uint32_t exponent = 0x7f800000;
  for (; !values.empty(); values = values.subspan(std::min(block, values.size()))) {
    uint32_t found = 0;
    for (const float value : values.first(std::min(block, values.size())))
      found |= static_cast<uint32_t>((std::bit_cast<uint32_t>(value) & exponent) == exponent);
    if (found != 0) return false;
  }
  return true;
}

std::string first_non_finite(std::span<const TensorEntry> entries) {
  for (const TensorEntry& entry : entries) {
    const auto* values = reinterpret_cast<const float*>(entry.bytes.data());
    if (entry.dtype == Dtype::f32 && !all_finite({values, entry.bytes.size() / sizeof(float)}))
      return entry.name;
  }
  return {};
}

}  // namespace dragoman::internal
