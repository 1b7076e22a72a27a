#include "kernels/cuda/gpu/context.h"

#include <algorithm>

namespace dragoman::internal {

// The program has its own, which a plug-in does not see.
Context::~Context() = default;

CudaContext::CudaContext(Gpu& gpu, int threads, cudaStream_t stream)
    : gpu_(gpu), threads_(std::max(1, threads)), stream_(stream), products_(gpu) {}

CudaContext::~CudaContext() { gpu_.free(workspace_); }

// Asked for at every launch, which is for the GPU that the calling thread uses.
void* CudaContext::stream() {
  gpu_.use();
  return stream_;
}

void CudaContext::launched(const char* name) { gpu_.check(cudaGetLastError(), name); }

// The old memory is freed in the stream's order, after the kernels that use it.
void* CudaContext::workspace(size_t bytes) {
  if (bytes > workspace_size_) {
    constexpr size_t step = size_t{2} << 20;
    gpu_.free(workspace_);
    workspace_ = nullptr;
    workspace_size_ = 0;
    const size_t size = (bytes + step - 1) / step * step;
    workspace_ = gpu_.allocate(size);
    workspace_size_ = size;
  }
  return workspace_;
}

}  // namespace dragoman::internal
