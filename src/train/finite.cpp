#include "train/finite.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace dragoman::internal {

// An exponent of ones, to which a one is added, carries into the sign's place. Blocks of one size become vectors.
bool all_finite(std::span<const float> values) {
  constexpr size_t block = 1024;
  const auto carry = [](float value) { return (std::bit_cast<uint32_t>(value) & 0x7fffffff) + 0x00800000; };
  for (; values.size() >= block; values = values.subspan(block)) {
    uint32_t carries = 0;
    for (size_t i = 0; i < block; ++i) carries |= carry(values[i]);
    if (carries >> 31 != 0) return false;
  }
  return std::ranges::none_of(values, [&](float value) { return carry(value) >> 31 != 0; });
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
