// The GPU's kernels on the host, for tests.
#pragma once

#include "kernels/kernels.h"

namespace dragoman::internal {

const Kernels& cuda_on_host();

}  // namespace dragoman::internal
