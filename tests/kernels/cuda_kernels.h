// What tests of the host's twin of a GPU share: running a small kernel, and reading what is said about it.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/host/context.h"

namespace dragoman::internal {

constexpr uint64_t orders = 100;

// The Error of a launch of two blocks where the threads run in the first order, or "". In all other orders there must
// be one, too, or none.
template <class... Parameters, class... Arguments>
std::string error_of(int threads, size_t shared_bytes, void (*kernel)(Parameters...),
                     const Arguments&... arguments) {
  HostGpuContext context(1);
  std::string first;
  for (uint64_t seed = 0; seed < orders; ++seed) {
    on_host::set_thread_order_seed(seed);
    std::string error;
    try {
      launch(context, {"crime", 2, threads, shared_bytes}, kernel, arguments...);
    } catch (const Error& e) {
      error = e.what();
    }
    if (seed == 0) first = error;
    EXPECT_EQ(error.empty(), first.empty()) << "seed " << seed << ": " << error;
  }
  on_host::set_thread_order_seed(0);
  return first;
}

// A message with all of these in it, and with a place in this file.
template <class... Parts>
void expect_says(const std::string& error, const char* file, const Parts&... parts) {
  EXPECT_NE(error.find("the kernel crime, block "), std::string::npos) << error;
  EXPECT_NE(error.find(file), std::string::npos) << error;
  for (const std::string& part : {std::string(parts)...})
    EXPECT_NE(error.find(part), std::string::npos) << error << "\nlacks: " << part;
}

}  // namespace dragoman::internal
