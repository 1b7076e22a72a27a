// The host's context of the GPU's kernels, for tests.
#pragma once

#include "kernels/cuda/context.h"
#include "kernels/cuda/host/scratch.h"

namespace dragoman::internal {

class HostGpuContext final : public GpuContext {
 public:
  explicit HostGpuContext(int threads) : threads_(threads) {}

  int threads() const override { return threads_; }
  void limit_threads(int) override {}  // one thread runs all kernels
  Context* clone(int threads) const override { return new HostGpuContext(threads); }

  void* stream() override { return nullptr; }
  void launched(const char*) override {}

  // What a kernel did not write there is not a number; under the address sanitizer, what it did not ask for is not to
  // be touched.
  void* workspace(size_t bytes) override { return workspace_.get(bytes); }

  // By the CPU's portable kernels (matmul.cpp).
  void multiply(const Matmul&) override;

  void download(void* to, const void* from, size_t bytes) override;

 private:
  int threads_;
  CpuContext cpu_{1};
  on_host::Scratch workspace_, a_, b_, c_, bias_;
};

Context* new_host_gpu_context(int threads);

}  // namespace dragoman::internal
