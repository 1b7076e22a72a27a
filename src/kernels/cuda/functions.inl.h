// Functions of one number: rounding; activations and their slopes, for the end of a product and for its backward. NaN
// stays NaN.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

using Bf16 = uint16_t;

// To the nearest, ties to even; NaN stays NaN.
GPU_FUNCTION Bf16 rounded_to_bf16(float x) {
  union {
    float number;
    uint32_t bits;
  } both = {x};
  if (x != x) return static_cast<Bf16>(both.bits >> 16 | 0x40);
  return static_cast<Bf16>((both.bits + 0x7fff + (both.bits >> 16 & 1)) >> 16);
}

GPU_FUNCTION float widened(Bf16 x) { return low_half(x); }
GPU_FUNCTION Four widened(const Four& x) { return x; }
GPU_FUNCTION Four widened(const FourBf16& x) {
  return {{low_half(x.pairs[0]), high_half(x.pairs[0]), low_half(x.pairs[1]), high_half(x.pairs[1])}};
}
GPU_FUNCTION FourBf16 rounded_to_bf16(const Four& x) {
  return {{rounded_to_bf16(x.x[0]) | static_cast<uint32_t>(rounded_to_bf16(x.x[1])) << 16,
           rounded_to_bf16(x.x[2]) | static_cast<uint32_t>(rounded_to_bf16(x.x[3])) << 16}};
}

GPU_FUNCTION float relu(float x) { return x <= 0 ? 0 : x; }
GPU_FUNCTION float sigmoid(float x) { return 1 / (1 + expf(-x)); }

// x·σ(u)
GPU_FUNCTION float gated(float x, float u) { return x / (1 + expf(-u)); }

// σ(u)·(1 + x·u′·σ(−u)), its slope where u is a function of x
GPU_FUNCTION float gated_slope(float x_times_slope_of_u, float u) {
  const float e = expf(-u), s = 1 / (1 + e);  // and e·s is σ(−u), without cancellation
  return s * fmaf(x_times_slope_of_u, e * s, 1.0f);
}

// Φ(x), of the normal distribution: its lower tail, too, to the last bits.
GPU_FUNCTION float normal_cdf(float x) { return 0.5f * erfcf(-0.70710678f * x); }

// x·(1 + tanh(√(2/π)·(x + 0.044715x³))) / 2, where (1 + tanh(u/2)) / 2 = σ(u). Beyond ±10 all of it is at its limit,
// and without the bound x³ would overflow.
constexpr float twice_root = 1.5957691f;  // 2√(2/π)
GPU_FUNCTION float bounded(float x) { return x < -10 ? -10.0f : x > 10 ? 10.0f : x; }
GPU_FUNCTION float gelu_tanh_gate(float x) { return x * twice_root * fmaf(0.044715f * x, x, 1.0f); }
GPU_FUNCTION float gelu_tanh_slope(float x) {
  const float b = bounded(x);
  return gated_slope(b * twice_root * fmaf(3 * 0.044715f * b, b, 1.0f), gelu_tanh_gate(b));
}

GPU_FUNCTION float activate(Activation activation, float x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return relu(x);
    case Activation::gelu:
      return x * normal_cdf(x);
    case Activation::gelu_tanh:
      return gated(x, gelu_tanh_gate(bounded(x)));
    case Activation::gelu_sigmoid:
      return gated(x, 1.702f * x);
    case Activation::swish:
      return gated(x, x);
  }
  return x;
}

// saved: the activation's output for relu, its input for the others.
GPU_FUNCTION float activation_slope(Activation activation, float saved) {
  switch (activation) {
    case Activation::none:
      return 1;
    case Activation::relu:
      return saved > 0 ? 1.0f : 0.0f;
    case Activation::gelu:
      return fmaf(saved * 0.39894228f, expf(-0.5f * saved * saved), normal_cdf(saved));
    case Activation::gelu_tanh:
      return gelu_tanh_slope(saved);
    case Activation::gelu_sigmoid:
      return gated_slope(1.702f * saved, 1.702f * saved);
    case Activation::swish:
      return gated_slope(saved, saved);
  }
  return 1;
}

}  // namespace
}  // namespace dragoman::internal
