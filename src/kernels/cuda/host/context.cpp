#include "kernels/cuda/host/context.h"

#include <cstring>

#include "kernels/cuda/host/far_memory.h"

namespace dragoman::internal {

void HostGpuContext::download(void* to, const void* from, size_t bytes) {
  const on_host::KernelAccess access;
  if (bytes > 0) std::memcpy(to, from, bytes);
}

Context* new_host_gpu_context(int threads) { return new HostGpuContext(threads); }

}  // namespace dragoman::internal
