#include "kernels/machine_peaks.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace dragoman::internal {
namespace {

// Each loop: `count` rounds of independent multiply-adds on registers; returns the operations, two for each.
#if defined(__x86_64__)
__attribute__((target("avx512f"))) double multiply_avx512(int64_t count) {
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

__attribute__((target("avx2,fma"))) double multiply_avx2(int64_t count) {
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

#if defined(__aarch64__)
double multiply_baseline(int64_t count) {
  float32x4_t sums[24] = {};
#pragma GCC unroll 24
  for (float32x4_t& sum : sums) asm volatile("" : "+w"(sum));  // else all sums would be one
  const float32x4_t a = vdupq_n_f32(0.999f), b = vdupq_n_f32(0.001f);
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 24
    for (float32x4_t& sum : sums) sum = vfmaq_f32(sum, a, b);
  }
#pragma GCC unroll 24
  for (float32x4_t& sum : sums) asm volatile("" ::"w"(sum));
  return static_cast<double>(count) * 24 * 8;
}

// Products of bytes in 16 bits, whose pairs are added to 32 bits.
double multiply_int8_baseline(int64_t count) {
  int32x4_t sums[16] = {};
  int8x16_t a = vdupq_n_s8(3), b = a;
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 16
    for (int32x4_t& sum : sums) {
      asm volatile("" : "+w"(a), "+w"(b));
      sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
    }
  }
#pragma GCC unroll 16
  for (int32x4_t& sum : sums) asm volatile("" ::"w"(sum));
  return static_cast<double>(count) * 16 * 16;
}

// The assembler knows the instruction, whatever the target.
double multiply_int8_dotprod(int64_t count) {
  int32x4_t sums[24] = {};
#pragma GCC unroll 24
  for (int32x4_t& sum : sums) asm volatile("" : "+w"(sum));
  const int8x16_t a = vdupq_n_s8(3);
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 24
    for (int32x4_t& sum : sums)
      asm(".arch_extension dotprod\n\tsdot %0.4s, %1.16b, %1.16b" : "+w"(sum) : "w"(a));
  }
#pragma GCC unroll 24
  for (int32x4_t& sum : sums) asm volatile("" ::"w"(sum));
  return static_cast<double>(count) * 24 * 32;
}
#else
// Four lanes, a multiplication and an addition each, as code without fused multiply-adds has them.
double multiply_baseline(int64_t count) {
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
#endif

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512vnni"))) double multiply_int8_vnni(int64_t count) {
  __m512i sums[16] = {};
#pragma GCC unroll 16
  for (__m512i& sum : sums) asm volatile("" : "+v"(sum));
  const __m512i a = _mm512_set1_epi8(3);
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 16
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, a, a);
  }
#pragma GCC unroll 16
  for (__m512i& sum : sums) asm volatile("" ::"v"(sum));
  return static_cast<double>(count) * 16 * 128;
}

// Products of pairs of bytes, pairs of those added up, and an addition.
__attribute__((target("avx512f,avx512bw"))) double multiply_int8_avx512(int64_t count) {
  __m512i sums[16] = {}, a = _mm512_set1_epi16(3), b = a;
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 16
    for (__m512i& sum : sums) {
      asm volatile("" : "+v"(a), "+v"(b));
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), a));
    }
  }
#pragma GCC unroll 16
  for (__m512i& sum : sums) asm volatile("" ::"v"(sum));
  return static_cast<double>(count) * 16 * 128;
}

__attribute__((target("avx2"))) double multiply_int8_avx2(int64_t count) {
  __m256i sums[12] = {}, a = _mm256_set1_epi16(3), b = a;
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 12
    for (__m256i& sum : sums) {
      asm volatile("" : "+x"(a), "+x"(b));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), a));
    }
  }
#pragma GCC unroll 12
  for (__m256i& sum : sums) asm volatile("" ::"x"(sum));
  return static_cast<double>(count) * 12 * 64;
}

double multiply_int8_baseline(int64_t count) {
  __m128i sums[12] = {}, a = _mm_set1_epi16(3), b = a;
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 12
    for (__m128i& sum : sums) {
      asm volatile("" : "+x"(a), "+x"(b));
      sum = _mm_add_epi32(sum, _mm_madd_epi16(a, b));
    }
  }
#pragma GCC unroll 12
  for (__m128i& sum : sums) asm volatile("" ::"x"(sum));
  return static_cast<double>(count) * 12 * 16;
}

__attribute__((target("avx512f,avx512bf16"))) double multiply_bf16(int64_t count) {
  __m512 sums[16] = {};
#pragma GCC unroll 16
  for (__m512& sum : sums) asm volatile("" : "+v"(sum));
  const __m512bh a = reinterpret_cast<__m512bh>(_mm512_setzero_si512());
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 16
    for (__m512& sum : sums) sum = _mm512_dpbf16_ps(sum, a, a);
  }
#pragma GCC unroll 16
  for (__m512& sum : sums) asm volatile("" ::"v"(sum));
  return static_cast<double>(count) * 16 * 64;
}

// Into four tiles of sums, as the kernels have them. The assembler knows the instructions, whatever the target.
double multiply_amx(Precision precision, int64_t count) {
  struct alignas(64) {
    uint8_t palette = 1, others[15] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } const whole;
  asm volatile("ldtilecfg %0" ::"m"(whole));
  if (precision == Precision::int8) {
    for (int64_t i = 0; i < count; ++i)
      asm volatile(
          "tdpbsud %tmm6, %tmm4, %tmm0\n\ttdpbsud %tmm7, %tmm4, %tmm1\n\t"
          "tdpbsud %tmm6, %tmm5, %tmm2\n\ttdpbsud %tmm7, %tmm5, %tmm3");
  } else {
    for (int64_t i = 0; i < count; ++i)
      asm volatile(
          "tdpbf16ps %tmm6, %tmm4, %tmm0\n\ttdpbf16ps %tmm7, %tmm4, %tmm1\n\t"
          "tdpbf16ps %tmm6, %tmm5, %tmm2\n\ttdpbf16ps %tmm7, %tmm5, %tmm3");
  }
  asm volatile("tilerelease");
  return static_cast<double>(count) * 4 * 16 * 16 * (precision == Precision::int8 ? 64 : 32) * 2;
}
#endif

double multiply([[maybe_unused]] const std::string& instruction_set, [[maybe_unused]] Precision precision,
                int64_t count) {
#if defined(__x86_64__)
  if (instruction_set == "amx" && precision != Precision::fp32) return multiply_amx(precision, count);
  const bool vnni =
      instruction_set == "avx512vnni" || instruction_set == "avx512bf16" || instruction_set == "amx";
  if (precision == Precision::int8) {
    if (vnni) return multiply_int8_vnni(count);
    if (instruction_set == "avx512") return multiply_int8_avx512(count);
    return instruction_set == "avx2" ? multiply_int8_avx2(count) : multiply_int8_baseline(count);
  }
  if (precision == Precision::bf16 && instruction_set == "avx512bf16") return multiply_bf16(count);
  if (vnni || instruction_set == "avx512") return multiply_avx512(count);
  if (instruction_set == "avx2") return multiply_avx2(count);
#elif defined(__aarch64__)
  if (precision == Precision::int8)
    return instruction_set == "dotprod" ? multiply_int8_dotprod(count) : multiply_int8_baseline(count);
#endif
  return multiply_baseline(count);
}

// Unrolled, or the sums would be read and written in memory.
void read(const float* from, size_t size) {
  typedef float Four __attribute__((vector_size(16)));
  Four sums[8] = {};
  for (size_t k = 0; k + 32 <= size; k += 32) {
#pragma GCC unroll 8
    for (size_t j = 0; j < 8; ++j) {
      Four v;
      __builtin_memcpy(&v, from + k + 4 * j, sizeof v);
      sums[j] += v;
    }
  }
#pragma GCC unroll 8
  for (const Four& sum : sums) asm volatile("" ::"m"(sum));
}

}  // namespace

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double seconds(int threads) {
  if (threads > 1) return seconds();
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double measured_peak(int threads, const std::string& instruction_set, Precision precision) {
  struct Argument {
    const std::string* instruction_set;
    Precision precision;
    double operations;
  } argument = {&instruction_set, precision, 0};
  CpuContext context(threads);
  double best = 0;
  for (int i = 0; i < 12; ++i) {
    const double start = seconds(threads);
    context.parallel(
        threads,
        [](void* p, int64_t task, int) {
          auto& wanted = *static_cast<Argument*>(p);
          const double operations = multiply(*wanted.instruction_set, wanted.precision, 1000000);
          if (task == 0) wanted.operations = operations;
        },
        &argument);
    const double rate = argument.operations * threads / (seconds(threads) - start);
    best = rate > best ? rate : best;
  }
  return best;
}

double measured_bandwidth(int threads, double bytes) {
  constexpr double most = 256 << 20, least = 4096;  // of a thread: short rounds would measure the loop
  struct Argument {
    size_t floats, rounds;  // of a thread
    std::vector<float> memory;
  } argument;
  const double share = std::max(std::min(bytes, most) / threads, least);
  argument.floats = static_cast<size_t>(share / sizeof(float)) / 32 * 32;
  argument.rounds = static_cast<size_t>(std::max(1.0, most / threads / share));
  argument.memory.resize(argument.floats * static_cast<size_t>(threads), 1.0f);
  CpuContext context(threads);
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const double start = seconds(threads);
    context.parallel(
        threads,
        [](void* p, int64_t task, int) {
          const Argument& all = *static_cast<Argument*>(p);
          for (size_t round = 0; round < all.rounds; ++round)
            read(all.memory.data() + static_cast<size_t>(task) * all.floats, all.floats);
        },
        &argument);
    const double read_bytes = static_cast<double>(argument.memory.size() * argument.rounds * sizeof(float));
    best = std::max(best, read_bytes / (seconds(threads) - start));
  }
  return best;
}

}  // namespace dragoman::internal
