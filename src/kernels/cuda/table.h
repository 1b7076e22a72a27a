// The table of the GPU's kernels, once for each device.
#pragma once

#include "kernels/kernels.h"

namespace dragoman::internal {

// All of its kernels, with what they run on.
Kernels cuda_kernels_on(const char* name, Context* (*new_context)(int threads), DeviceMemory& (*memory)());

// Products of floats round their operands to tf32 from now on.
void use_tf32(Kernels& table);

}  // namespace dragoman::internal
