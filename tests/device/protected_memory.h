// A device whose memory the host cannot touch: the CPU's kernels on pages that are accessible only while a kernel runs
// or a copy is under way. Whoever follows a pointer to device memory crashes, as beside a GPU; and a kernel that is
// given host memory fails the test.
#pragma once

#include "tensor/device.h"

namespace dragoman::internal {

// One for the whole program, since kernels are plain functions.
DeviceMemory& protected_memory();

// This machine's best kernels, on that memory.
const Kernels& protected_kernels();

struct ProtectedDevice : Device {
  explicit ProtectedDevice(int threads)
      : Device(protected_kernels(), std::make_unique<CpuContext>(threads), protected_memory()) {}
};

}  // namespace dragoman::internal
