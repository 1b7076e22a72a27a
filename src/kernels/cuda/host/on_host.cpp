#include "kernels/cuda/host/on_host.h"

#include <cstdlib>

#include "kernels/cuda/host/context.h"
#include "kernels/cuda/host/far_memory.h"
#include "kernels/cuda/table.h"

namespace dragoman::internal {

const Kernels& cuda_on_host() {
  static const bool far = std::getenv("DRAGOMAN_FAR_MEMORY") != nullptr;
  static const Kernels table = cuda_kernels_on("cuda-on-host", new_host_gpu_context, cpu_memory);
  return far ? cuda_on_host_far() : table;
}

const Kernels& cuda_on_host_far() {
  static const Kernels table = cuda_kernels_on("cuda-on-host", new_host_gpu_context, on_host::far_memory);
  return table;
}

}  // namespace dragoman::internal
