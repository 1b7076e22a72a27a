// Memory that the host cannot touch, as a GPU's: its pages are accessible only while a kernel runs or a copy is under
// way. Whoever else follows a pointer to it crashes.
#pragma once

#include "kernels/memory.h"

namespace dragoman::internal::on_host {

// One for the whole program.
DeviceMemory& far_memory();

// While one exists, kernels may touch it: for each launch and each product.
struct KernelAccess {
  KernelAccess();
  ~KernelAccess();
  KernelAccess(const KernelAccess&) = delete;
  KernelAccess& operator=(const KernelAccess&) = delete;
};

}  // namespace dragoman::internal::on_host
