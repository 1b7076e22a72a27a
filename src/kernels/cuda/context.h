// GpuContext: what the GPU's kernels run on. A GPU's is in gpu/, the host's, for tests, in host/.
#pragma once

#include <stddef.h>

#include "kernels/context.h"
#include "kernels/cuda/matmul.h"

namespace dragoman::internal {

class GpuContext : public Context {
 public:
  // CUDA's, which all of a GPU's contexts and its memory share: what was asked for first is done first.
  virtual void* stream() = 0;
  // After each launch: throws Error if the kernel of this name could not be started.
  virtual void launched(const char* name) = 0;

  // Device memory, aligned to 256 bytes, valid until the next kernel of the table requests its own. It grows to the
  // largest request seen and stays.
  virtual void* workspace(size_t bytes) = 0;

  virtual void multiply(const Matmul&) = 0;

  // Copies to the host, and waits for it.
  virtual void download(void* to, const void* from, size_t bytes) = 0;
};

inline GpuContext& gpu(Context& context) { return static_cast<GpuContext&>(context); }

}  // namespace dragoman::internal
