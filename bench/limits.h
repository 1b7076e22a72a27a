// What the machine can do at most: multiply-adds from registers alone, and bytes read from memory.
#pragma once

#include <time.h>

#include <chrono>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernels/context.h"

namespace dragoman::bench {

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// One thread's time is that of the processor, so that other programs' turns do not count.
inline double seconds(int threads) {
  if (threads > 1) return seconds();
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Each loop: `count` rounds of independent multiply-adds on registers; returns the floating-point operations.
#if defined(__x86_64__)
__attribute__((target("avx512f"))) inline double multiply_avx512(int64_t count) {
  __m512 sums[16] = {};
#pragma GCC unroll 16
  for (__m512& sum : sums) asm volatile("" : "+v"(sum));  // else all sums would be one
  __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(0.001f);
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 16
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(a, sum, b);
  }
#pragma GCC unroll 16
  for (__m512& sum : sums) asm volatile("" ::"v"(sum));
  return static_cast<double>(count) * 16 * 32;
}

__attribute__((target("avx2,fma"))) inline double multiply_avx2(int64_t count) {
  __m256 sums[12] = {};
#pragma GCC unroll 12
  for (__m256& sum : sums) asm volatile("" : "+x"(sum));  // else all sums would be one
  __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 12
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(a, sum, b);
  }
#pragma GCC unroll 12
  for (__m256& sum : sums) asm volatile("" ::"x"(sum));
  return static_cast<double>(count) * 12 * 16;
}
#endif

// Four lanes, a multiplication and an addition each, as code without fused multiply-adds has them.
inline double multiply_baseline(int64_t count) {
  typedef float Four __attribute__((vector_size(16)));
  Four sums[12] = {};
  Four a = {0.999f, 0.998f, 0.997f, 0.996f};
  const Four b = a * 0.001f;
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 12
    for (Four& sum : sums) {
#if defined(__x86_64__)
      asm volatile("" : "+x"(a));  // else the product would be taken out of the loop
#endif
      sum += a * b;
    }
  }
#pragma GCC unroll 12
  for (Four& sum : sums) {
#if defined(__x86_64__)
    asm volatile("" ::"x"(sum));
#else
    asm volatile("" ::"m"(sum));
#endif
  }
  return static_cast<double>(count) * 12 * 8;
}

inline double multiply(const std::string& instruction_set, int64_t count) {
#if defined(__x86_64__)
  if (instruction_set == "avx512") return multiply_avx512(count);
  if (instruction_set == "avx2") return multiply_avx2(count);
#endif
  return multiply_baseline(count);
}

// Floating-point operations a second, all threads together; the best of a few moments.
inline double measured_peak(Context& context, const std::string& instruction_set) {
  struct Argument {
    const std::string* instruction_set;
    double operations;
  } argument = {&instruction_set, 0};
  double best = 0;
  for (int i = 0; i < 12; ++i) {
    const double start = seconds(context.threads());
    context.parallel(
        context.threads(),
        [](void* p, int64_t task, int) {
          const double operations = multiply(*static_cast<Argument*>(p)->instruction_set, 1000000);
          if (task == 0) static_cast<Argument*>(p)->operations = operations;
        },
        &argument);
    const double rate = argument.operations * context.threads() / (seconds(context.threads()) - start);
    best = rate > best ? rate : best;
  }
  return best;
}

// Bytes a second that are read from memory, all threads together.
inline double measured_bandwidth(Context& context) {
  struct Argument {
    std::vector<float> memory = std::vector<float>(64 << 20, 1.0f);  // 256 MB
    int64_t tasks = 64;
  } argument;
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const double start = seconds(context.threads());
    context.parallel(
        argument.tasks,
        [](void* p, int64_t task, int) {
          typedef float Eight __attribute__((vector_size(32)));
          const Argument& all = *static_cast<Argument*>(p);
          const size_t size = all.memory.size() / static_cast<size_t>(all.tasks);
          const float* from = all.memory.data() + static_cast<size_t>(task) * size;
          Eight sums[4] = {};
          for (size_t k = 0; k + 32 <= size; k += 32) {
            for (size_t j = 0; j < 4; ++j) {
              Eight v;
              __builtin_memcpy(&v, from + k + 8 * j, sizeof v);
              sums[j] += v;
            }
          }
          for (Eight& sum : sums) asm volatile("" ::"m"(sum));
        },
        &argument);
    const double rate =
        static_cast<double>(argument.memory.size() * sizeof(float)) / (seconds(context.threads()) - start);
    best = rate > best ? rate : best;
  }
  return best;
}

}  // namespace dragoman::bench
