// What tests of several rooms share: every instruction set of this machine, numbers to compute on, bytes to compare.
#pragma once

#include <concepts>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "kernels/kernels.h"

namespace dragoman::internal {

// Under a sanitizer tests of thousands of trials make fewer: each takes ten to forty times as long.
#if defined(DRAGOMAN_ADDRESS_SANITIZER) || defined(DRAGOMAN_THREAD_SANITIZER)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

#if defined(DRAGOMAN_CUDA_ON_HOST)
extern const Kernels kernels_cuda_on_host;
#endif

// The tables of kernels that this machine can run, the plainest first, for testing::ValuesIn; and the GPU's, which run
// on the host for tests (cmake/cuda_on_host.cmake).
inline std::vector<const Kernels*> every_instruction_set() {
  const KernelTables available = available_kernels();
  std::vector<const Kernels*> tables(available.tables, available.tables + available.count);
#if defined(DRAGOMAN_CUDA_ON_HOST)
  tables.push_back(&kernels_cuda_on_host);
#endif
  return tables;
}

inline std::string kernels_name(const testing::TestParamInfo<const Kernels*>& test) {
  return test.param->name;
}

// So that a failing test says "avx2" and not an address.
inline void PrintTo(const Kernels* kernels, std::ostream* out) { *out << kernels->name; }

inline std::vector<float> random_floats(std::integral auto count, uint64_t key, double low = -1,
                                        double high = 1) {
  Random random(key);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = static_cast<float>(random.uniform(low, high));
  return values;
}

inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

}  // namespace dragoman::internal
