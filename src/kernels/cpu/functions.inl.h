// Activations and their slopes, for the epilogue of a product and for its backward. NaN stays NaN.
#pragma once

#include "kernels/cpu/simd.h"

namespace dragoman::internal {
namespace {

inline Vec relu(Vec x) { return max(Vec{}, x); }

// Φ(−z), the normal distribution's tail beyond z ≥ 0, from e = exp(−z²/2), to about 2e-7 of itself: e times a
// polynomial in t = 1 / (1 + 0.265 z), fitted to 1e-8 of the true quotient on [0, 13.5], after which e is 0.
inline Vec normal_tail(Vec z, Vec e) {
  const Vec t = all(1.0f) / multiply_add(all(0.265f), z, all(1.0f));
  Vec q = all(0.030912837f);
  q = multiply_add(q, t, all(-0.14466323f));
  q = multiply_add(q, t, all(0.21868874f));
  q = multiply_add(q, t, all(-0.11733692f));
  q = multiply_add(q, t, all(0.13861077f));
  q = multiply_add(q, t, all(0.060038481f));
  q = multiply_add(q, t, all(0.10277014f));
  q = multiply_add(q, t, all(0.10523707f));
  q = multiply_add(q, t, all(0.10574213f));
  return q * t * e;
}

// x·Φ(x): the exact form, by the error function.
inline Vec gelu(Vec x) {
  const Vec z = max(-x, x);
  const Vec tail = normal_tail(z, exponential(all(-0.5f) * z * z));
  return x * (x < Vec{} ? tail : all(1.0f) - tail);
}

// Φ(x) + x·φ(x)
inline Vec gelu_slope(Vec x) {
  const Vec z = max(-x, x);
  const Vec e = exponential(all(-0.5f) * z * z);
  const Vec tail = normal_tail(z, e);
  return multiply_add(x * all(0.39894228f), e, x < Vec{} ? tail : all(1.0f) - tail);
}

inline Vec sigmoid(Vec x) { return all(1.0f) / (all(1.0f) + exponential(-x)); }

// x·σ(u)
inline Vec gated(Vec x, Vec u) { return x / (all(1.0f) + exponential(-u)); }

// σ(u)·(1 + x·u′·σ(−u)), its slope where u is a function of x
inline Vec gated_slope(Vec x_times_slope_of_u, Vec u) {
  const Vec e = exponential(-u);
  const Vec s = all(1.0f) / (all(1.0f) + e);  // and e·s is σ(−u), without cancellation
  return s * multiply_add(x_times_slope_of_u, e * s, all(1.0f));
}

inline Vec swish(Vec x) { return gated(x, x); }
inline Vec swish_slope(Vec x) { return gated_slope(x, x); }

// x·σ(1.702x)
inline Vec gelu_sigmoid(Vec x) { return gated(x, all(1.702f) * x); }
inline Vec gelu_sigmoid_slope(Vec x) { return gated_slope(all(1.702f) * x, all(1.702f) * x); }

// x·(1 + tanh(√(2/π)·(x + 0.044715x³))) / 2, where (1 + tanh(u/2)) / 2 = σ(u). Beyond ±10 all of it is at its limit,
// and without the bound x³ would overflow.
constexpr float twice_root = 1.5957691f;  // 2√(2/π)
inline Vec gelu_tanh_gate(Vec x) {
  return x * all(twice_root) * multiply_add(all(0.044715f) * x, x, all(1.0f));
}
inline Vec gelu_tanh(Vec x) { return gated(x, gelu_tanh_gate(min(all(10.0f), max(all(-10.0f), x)))); }
inline Vec gelu_tanh_slope(Vec x) {
  const Vec bounded = min(all(10.0f), max(all(-10.0f), x));
  const Vec slope_of_gate = all(twice_root) * multiply_add(all(3 * 0.044715f) * bounded, bounded, all(1.0f));
  return gated_slope(bounded * slope_of_gate, gelu_tanh_gate(bounded));
}

}  // namespace
}  // namespace dragoman::internal
