// Whether processes can sum gradients in the memory of their GPUs.
#pragma once

#include <optional>

#include "kernels/device_sums.h"
#include "parallel/processes.h"

namespace dragoman::internal {

// Collective. The id by which their DeviceSums find each other; none where gradients must go through the host: if any
// process has a GPU, the log says why. Throws Error where two processes have one GPU, or versions of NCCL differ.
std::optional<DeviceSumsId> agree_on_device_sums(Processes& processes, const Kernels& kernels);

}  // namespace dragoman::internal
