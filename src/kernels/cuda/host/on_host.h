// The GPU's kernels on the host, for tests: in the host's memory, or in memory that the host cannot touch
// (far_memory.h), where DRAGOMAN_FAR_MEMORY is set: then tests show that a GPU could run them.
#pragma once

#include "kernels/kernels.h"

namespace dragoman::internal {

const Kernels& cuda_on_host();
const Kernels& cuda_on_host_far();

}  // namespace dragoman::internal
