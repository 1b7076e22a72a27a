// The host's half of the vocabulary in kernels/cuda/device.h, which alone includes this file: words over machine.h.
// Words for which it matters know the place in the source where they stand: by arguments that a kernel never gives.
#pragma once

#include <string.h>

#include <type_traits>

#include "kernels/cuda/host/machine.h"
#include "kernels/cuda/host/shared.h"

#define GPU_KERNEL static void
#define GPU_KERNEL_OF(threads, blocks) static void
#define GPU_FUNCTION static inline
#define GPU_OR_HOST_FUNCTION static inline

namespace dragoman::internal {
namespace {

inline int64_t block_index() { return on_host::running.block; }
inline int64_t block_count() { return on_host::running.blocks; }
inline int thread_index() { return on_host::running.thread; }
inline int block_threads() { return on_host::running.threads; }

// Not a pointer: each access is checked (shared.h).
template <class T>
using Shared = on_host::SharedArray<T>;

template <class T>
Shared<T> shared(size_t bytes, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  on_host::check_alignment(bytes, sizeof(T), {file, line});
  return Shared<T>(static_cast<int64_t>(bytes));
}

inline Four four(const Shared<float>& s, int64_t i, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
  on_host::check_alignment(static_cast<size_t>(s.place(i)), sizeof(Four), {file, line});
  Four read = {};
  for (int n = 0; n < 4; ++n) read.x[n] = s[{i + n, file, line}];
  return read;
}

template <class Values, class T>
Values load_at_once(const T* from, on_host::Place place) {
  on_host::check_address(from, sizeof(Values), place);
  Values read;
  memcpy(&read, from, sizeof read);
  return read;
}
template <class Values, class T>
void store_at_once(const Values& x, T* to, on_host::Place place) {
  on_host::check_address(to, sizeof(Values), place);
  memcpy(to, &x, sizeof x);
}
inline Four load_four(const float* from, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return load_at_once<Four>(from, {file, line});
}
inline FourBf16 load_four(const uint16_t* from, const char* file = __builtin_FILE(),
                          int line = __builtin_LINE()) {
  return load_at_once<FourBf16>(from, {file, line});
}
inline void store_four(const Four& x, float* to, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  store_at_once(x, to, {file, line});
}
inline void store_four(const FourBf16& x, uint16_t* to, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  store_at_once(x, to, {file, line});
}

inline void sync_block(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  on_host::sync_block({file, line});
}
inline void sync_warp(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  on_host::sync_warp({file, line});
}

// Values of up to 8 bytes travel as one number.
template <class T>
uint64_t to_bits(T x) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t));
  uint64_t bits = 0;
  memcpy(&bits, &x, sizeof x);
  return bits;
}
template <class T>
T from_bits(uint64_t bits) {
  T x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

template <class T>
T shuffle(T x, int from, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return from_bits<T>(on_host::shuffle(to_bits(x), from, {file, line}));
}
template <class T>
T shuffle_xor(T x, int mask, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return from_bits<T>(on_host::shuffle_xor(to_bits(x), mask, {file, line}));
}
inline float warp_sum(float x, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return on_host::warp_sum(x, {file, line});
}
inline float warp_max(float x, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return on_host::warp_max(x, {file, line});
}

inline FourWords load_words(const uint16_t* from, const char* file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
  return load_at_once<FourWords>(from, {file, line});
}
inline void store_words(const FourWords& words, uint16_t* to, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE()) {
  store_at_once(words, to, {file, line});
}
inline FourWords load_words_if(bool there, const uint16_t* from, const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) {
  return there ? load_words(from, file, line) : FourWords{{0, 0, 0, 0}};
}
inline float power_of_2(float x) {
  const float power = exp2f(x);
  return power < 0x1p-126F ? 0 : power;
}
inline uint32_t bits_in_bf16(float x) {
  const auto bits = static_cast<uint32_t>(to_bits(x));
  return x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
inline uint32_t bf16_pair(float low, float high) { return bits_in_bf16(low) | bits_in_bf16(high) << 16; }
inline uint32_t low_halves(uint32_t a, uint32_t b) { return (a & 0xffff) | b << 16; }
inline uint32_t high_halves(uint32_t a, uint32_t b) { return a >> 16 | (b & 0xffff0000); }
inline void add_product(float (&sums)[4], const FourWords& a, uint32_t b0, uint32_t b1,
                        const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  on_host::add_product({sums, a.x, {b0, b1}}, {file, line});
}
inline uint32_t transpose(uint32_t x, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const int g = thread_index() % 32 / 4, t = thread_index() % 4;
  const uint32_t even = shuffle(x, 8 * t + g / 2, file, line),
                 odd = shuffle(x, 8 * t + 4 + g / 2, file, line);
  return g % 2 == 0 ? low_halves(even, odd) : high_halves(even, odd);
}

template <class... Parameters, class... Arguments>
void launch(Context& context, const Grid& grid, void (*kernel)(Parameters...),
            const Arguments&... arguments) {
  if (grid.blocks <= 0) return;
  const auto thread = [=] { kernel(arguments...); };
  const auto run = [=] {
    on_host::run({grid.name, grid.blocks, grid.threads, grid.shared_bytes,
                  [](const void* body) { (*static_cast<decltype(thread)*>(body))(); }, &thread});
  };
  if (on_host::put_on_stream == nullptr) {
    run();
  } else {
    on_host::put_on_stream(gpu(context).stream(), run);
  }
  gpu(context).launched(grid.name);
}

}  // namespace
}  // namespace dragoman::internal
