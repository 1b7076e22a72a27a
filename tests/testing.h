// What tests of several rooms share: every instruction set of this machine, numbers to compute on, bytes to compare.
#pragma once

#include <cctype>
#include <concepts>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "kernels/devices.h"
#include "kernels/kernels.h"
#include "kernels/memory.h"
#if defined(DRAGOMAN_CUDA_ON_HOST)
#include "kernels/cuda/host/on_host.h"
#endif

namespace dragoman::internal {

// Under a sanitizer tests of thousands of trials make fewer: each takes ten to forty times as long.
#if defined(DRAGOMAN_ADDRESS_SANITIZER) || defined(DRAGOMAN_THREAD_SANITIZER)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

// The tables of kernels that this machine can run, the plainest first, for testing::ValuesIn.
inline std::vector<const Kernels*> every_instruction_set() {
  const KernelTables available = available_kernels();
  return {available.tables, available.tables + available.count};
}

// And the GPU's: run by the host (cmake/cuda_on_host.cmake), and on the device that DRAGOMAN_TEST_DEVICE names.
inline std::vector<const Kernels*> every_table() {
  std::vector<const Kernels*> tables = every_instruction_set();
#if defined(DRAGOMAN_CUDA_ON_HOST)
  tables.push_back(&cuda_on_host());
#endif
  if (const char* device = std::getenv("DRAGOMAN_TEST_DEVICE")) tables.push_back(&kernels_of_device(device));
  return tables;
}

// Fibers are slow: tests of a GPU's table do less.
inline bool is_gpu_table(const Kernels* kernels) { return kernels->new_context != new_cpu_context; }

// As a part of a test's name: "avx2", "cuda_on_host".
inline std::string name_in_tests(const Kernels& kernels) {
  std::string name = kernels.name;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}
inline std::string kernels_name(const testing::TestParamInfo<const Kernels*>& test) {
  return name_in_tests(*test.param);
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

// What a device's memory holds here, on the host.
inline std::vector<float> downloaded(DeviceMemory& memory, std::span<const float> device) {
  const HostView<const float> values(memory, device);
  return {values.begin(), values.end()};
}

inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

}  // namespace dragoman::internal
