// Vectors of floats for the instruction set that this translation unit is compiled for.
//
// Vec is a compiler vector of `lanes` floats: + − * / and comparisons work on it. What compilers have no
// operator for stands here, once for each instruction set: fused multiply-add, masked loads and stores,
// minimum and maximum, square root. Everything is in an anonymous namespace: the object file exports none of it.
#pragma once

#include <stdint.h>

#if defined(__SSE2__)
#pragma GCC diagnostic push  // GCC 12 takes the undefined lanes of its own _mm512_ functions for a mistake
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace dragoman::internal {
namespace {

#if defined(__AVX512F__)
constexpr int lanes = 16, registers = 32;
#elif defined(__AVX2__)
constexpr int lanes = 8, registers = 16;
#elif defined(__aarch64__)
constexpr int lanes = 4, registers = 32;
#else
constexpr int lanes = 4, registers = 16;
#endif

typedef float Vec __attribute__((vector_size(4 * lanes)));
typedef int32_t Ints __attribute__((vector_size(4 * lanes)));
typedef uint32_t Words __attribute__((vector_size(4 * lanes)));
typedef float Unaligned __attribute__((vector_size(4 * lanes), aligned(4), may_alias));

inline Vec load(const float* p) { return *reinterpret_cast<const Unaligned*>(p); }
inline void store(float* p, Vec v) { *reinterpret_cast<Unaligned*>(p) = v; }
inline Vec all(float x) { return x - Vec{}; }  // not x + 0, which would be an addition: it turns −0 into 0

#if defined(__AVX512F__)

inline __mmask16 first(int64_t n) { return static_cast<__mmask16>((1u << n) - 1); }
inline Vec load_first(const float* p, int64_t n) { return _mm512_maskz_loadu_ps(first(n), p); }
inline void store_first(float* p, Vec v, int64_t n) { _mm512_mask_storeu_ps(p, first(n), v); }
inline Vec multiply_add(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }
inline Vec min(Vec a, Vec b) { return _mm512_min_ps(a, b); }
inline Vec square_root(Vec a) { return _mm512_sqrt_ps(a); }
inline Ints round_to_int(Vec a) { return reinterpret_cast<Ints>(_mm512_cvtps_epi32(a)); }
inline Vec to_float(Ints a) { return _mm512_cvtepi32_ps(reinterpret_cast<__m512i>(a)); }

#elif defined(__AVX2__)

inline __m256i first(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Vec load_first(const float* p, int64_t n) { return _mm256_maskload_ps(p, first(n)); }
inline void store_first(float* p, Vec v, int64_t n) { _mm256_maskstore_ps(p, first(n), v); }
inline Vec multiply_add(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
inline Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
inline Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
inline Vec square_root(Vec a) { return _mm256_sqrt_ps(a); }
inline Ints round_to_int(Vec a) { return reinterpret_cast<Ints>(_mm256_cvtps_epi32(a)); }
inline Vec to_float(Ints a) { return _mm256_cvtepi32_ps(reinterpret_cast<__m256i>(a)); }

#else  // four floats

inline Vec load_first(const float* p, int64_t n) {
  Vec v = {};
  for (int64_t i = 0; i < n; ++i) v[i] = p[i];
  return v;
}
inline void store_first(float* p, Vec v, int64_t n) {
  for (int64_t i = 0; i < n; ++i) p[i] = v[i];
}
inline Vec max(Vec a, Vec b) { return a > b ? a : b; }
inline Vec min(Vec a, Vec b) { return a < b ? a : b; }

#if defined(__aarch64__)

inline Vec multiply_add(Vec a, Vec b, Vec c) { return vfmaq_f32(c, a, b); }
inline Vec square_root(Vec a) { return vsqrtq_f32(a); }
inline Ints round_to_int(Vec a) { return vcvtnq_s32_f32(a); }
inline Vec to_float(Ints a) { return vcvtq_f32_s32(a); }

#else  // portable: whatever the compiler makes of them

inline Vec multiply_add(Vec a, Vec b, Vec c) {
#if defined(__FP_FAST_FMAF)
  for (int i = 0; i < lanes; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
#else
  return a * b + c;
#endif
}
inline Vec square_root(Vec a) {
  for (int i = 0; i < lanes; ++i) a[i] = __builtin_sqrtf(a[i]);
  return a;
}
inline Ints round_to_int(Vec a) {  // to nearest, ties to even, by the rounding of an addition
  const Vec magic = all(12582912.0f);
  return reinterpret_cast<Ints>(a + magic) - reinterpret_cast<Ints>(magic);
}
inline Vec to_float(Ints a) { return __builtin_convertvector(a, Vec); }

#endif
#endif

// The lanes of a row's tail: `n` may be anything from 1 up; all lanes where it is at least their number.
inline Vec load_some(const float* p, int64_t n) { return n >= lanes ? load(p) : load_first(p, n); }
inline void store_some(float* p, Vec v, int64_t n) {
  if (n >= lanes) {
    store(p, v);
  } else {
    store_first(p, v, n);
  }
}

inline Ints counted_lanes() {
  Ints v = {};
  for (int i = 0; i < lanes; ++i) v[i] = i;
  return v;
}

inline void fill(float* p, int64_t count, float value) {
  for (int64_t i = 0; i < count; i += lanes) store_some(p + i, all(value), count - i);
}

// 0, 1, ... as parameters of a template: std::integer_sequence comes with headers that are not for one instruction set.
template <int... numbers>
struct Sequence {};
template <int count, int... numbers>
struct SequenceOf : SequenceOf<count - 1, count - 1, numbers...> {};
template <int... numbers>
struct SequenceOf<0, numbers...> : Sequence<numbers...> {};

// Lane i gets lane i + distance; the last ones get the first.
template <int distance, int... lane>
inline Vec turned(Vec v, Sequence<lane...>) {
  return __builtin_shufflevector(v, v, (lane + distance) % lanes...);
}
template <int distance>
inline Vec turned(Vec v) {
  return turned<distance>(v, SequenceOf<lanes>());
}

// Lanes combine pairwise, in one order on every instruction set of the same width.
template <int half = lanes / 2>
inline float sum(Vec v) {
  if constexpr (half > 0) return sum<half / 2>(v + turned<half>(v));
  return v[0];
}
template <int half = lanes / 2>
inline float largest(Vec v) {
  if constexpr (half > 0) return largest<half / 2>(max(v, turned<half>(v)));
  return v[0];
}

// e^x to about one unit in the last place; 0 below −87.3, where floats lose their precision. A NaN stays one: max and
// min return their second operand where either is NaN.
inline Vec exponential(Vec x) {
  const Vec lowest = all(-87.33654f), highest = all(88.37626f);
  const Vec clamped = min(highest, max(lowest, x));
  const Ints n = round_to_int(clamped * all(1.44269504f));  // x = n·ln 2 + r, |r| ≤ ln 2 / 2
  const Vec nf = to_float(n);
  Vec r = multiply_add(nf, all(-0.693359375f), clamped);
  r = multiply_add(nf, all(2.12194440e-4f), r);
  Vec p = all(1.9875691500e-4f);
  p = multiply_add(p, r, all(1.3981999507e-3f));
  p = multiply_add(p, r, all(8.3334519073e-3f));
  p = multiply_add(p, r, all(4.1665795894e-2f));
  p = multiply_add(p, r, all(1.6666665459e-1f));
  p = multiply_add(p, r, all(5.0000001201e-1f));
  p = multiply_add(p, r * r, r + all(1.0f));
  const Vec power = reinterpret_cast<Vec>((n + 127) << 23);
  const Vec result = p * power;
  return x < lowest ? Vec{} : result;
}

// ln x to about one unit in the last place, for x that is neither 0 nor denormal, negative, infinite or a NaN.
inline Vec logarithm(Vec x) {
  const Ints bits = reinterpret_cast<Ints>(x);
  const Ints n = (bits - 0x3f3504f3) >> 23;  // x = 2^n · (1 + f), 1 + f from √½ to √2
  const Vec f = reinterpret_cast<Vec>(bits - (n << 23)) - all(1.0f);
  const Vec nf = to_float(n);
  Vec p = all(7.0376836292e-2f);
  p = multiply_add(p, f, all(-1.1514610310e-1f));
  p = multiply_add(p, f, all(1.1676998740e-1f));
  p = multiply_add(p, f, all(-1.2420140846e-1f));
  p = multiply_add(p, f, all(1.4249322787e-1f));
  p = multiply_add(p, f, all(-1.6668057665e-1f));
  p = multiply_add(p, f, all(2.0000714765e-1f));
  p = multiply_add(p, f, all(-2.4999993993e-1f));
  p = multiply_add(p, f, all(3.3333331174e-1f));
  const Vec square = f * f;
  Vec y = multiply_add(nf, all(-2.12194440e-4f), p * f * square);
  y = multiply_add(all(-0.5f), square, y);
  return multiply_add(nf, all(0.693359375f), f + y);
}

inline float dot(const float* a, const float* b, int64_t n) {
  Vec total = {};
  for (int64_t i = 0; i < n; i += lanes)
    total = multiply_add(load_some(a + i, n - i), load_some(b + i, n - i), total);
  return sum(total);
}

}  // namespace
}  // namespace dragoman::internal
