// Stands for the kernels of sums where the host cannot run them.
#include "kernels/cuda/sums.h"

namespace dragoman::internal {

const SumKernels& cuda_sum_kernels() {
  static constexpr SumKernels none = {};
  return none;
}

}  // namespace dragoman::internal
