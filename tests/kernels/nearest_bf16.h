// Numbers in bf16, for tests: rounded to the nearest, ties to even.
#pragma once

#include <cstdint>
#include <cstring>

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

}  // namespace dragoman::internal
