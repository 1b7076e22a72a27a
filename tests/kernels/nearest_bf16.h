// Numbers in bf16, for tests: rounded to the nearest, ties to even.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace dragoman::internal {

inline uint16_t nearest_bf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float float_of_bf16(uint16_t x) {
  const uint32_t bits = static_cast<uint32_t>(x) << 16;
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

inline std::vector<uint16_t> rounded(const std::vector<float>& values) {
  std::vector<uint16_t> halves;
  for (const float x : values) halves.push_back(nearest_bf16(x));
  return halves;
}
inline std::vector<float> widened(const std::vector<uint16_t>& halves) {
  std::vector<float> values;
  for (const uint16_t x : halves) values.push_back(float_of_bf16(x));
  return values;
}

}  // namespace dragoman::internal
