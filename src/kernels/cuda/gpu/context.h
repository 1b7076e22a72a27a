// CudaContext: what kernels run on, of one GPU: its stream, or another one.
#pragma once

#include "kernels/cuda/context.h"
#include "kernels/cuda/gpu/gpu.h"
#include "kernels/cuda/gpu/matmul.h"

namespace dragoman::internal {

class CudaContext final : public GpuContext {
 public:
  CudaContext(Gpu& gpu, int threads) : CudaContext(gpu, threads, gpu.stream()) {}
  CudaContext(Gpu& gpu, int threads, cudaStream_t stream);
  ~CudaContext() override;

  // The kernels use one thread of the host; the others are the caller's.
  int threads() const override { return threads_; }
  void limit_threads(int) override {}
  Context* clone(int threads) const override { return new CudaContext(gpu_, threads); }

  void* stream() override;
  void launched(const char* name) override;
  void* workspace(size_t bytes) override;
  void multiply(const Matmul& product) override { products_.multiply(product); }
  void download(void* to, const void* from, size_t bytes) override { gpu_.download(to, from, bytes); }

 private:
  Gpu& gpu_;
  const int threads_;
  const cudaStream_t stream_;
  Products products_;
  void* workspace_ = nullptr;
  size_t workspace_size_ = 0;
};

}  // namespace dragoman::internal
