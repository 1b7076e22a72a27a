#include "kernels/cuda/host/table.h"

#include "kernels/cuda/host/context.h"
#include "kernels/cuda/table.h"
#include "kernels/memory.h"

namespace dragoman::internal {

const Kernels& cuda_on_host() {
  static const Kernels table = cuda_kernels_on("cuda-on-host", new_host_gpu_context, cpu_memory);
  return table;
}

}  // namespace dragoman::internal
