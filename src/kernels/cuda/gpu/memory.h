// CudaMemory: a GPU's. A pool's range is addresses at first; memory is mapped behind them as it grows, so that nothing
// that lies there ever moves.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "kernels/cuda/gpu/upload.h"
#include "kernels/memory.h"

namespace dragoman::internal {

class CudaMemory final : public DeviceMemory {
 public:
  explicit CudaMemory(Gpu& gpu);

  void* reserve(size_t bytes) override;
  void release(void* data, size_t bytes) override;
  void commit(void* data, size_t bytes) override;

  void upload(void* to, const void* from, size_t bytes) override;
  void download(void* to, const void* from, size_t bytes) override;
  void copy(void* to, const void* from, size_t bytes) override;
  void fill(Matrix to, float value) override;

  std::shared_ptr<const void> adopt(std::shared_ptr<const void> host, size_t bytes) override;
  bool is_host_memory() const override { return false; }

 private:
  struct Range {
    size_t size, mapped = 0;
    std::vector<size_t> pieces = {};  // that are mapped, one after another
  };

  size_t rounded(size_t bytes) const { return (bytes + granularity_ - 1) / granularity_ * granularity_; }
  bool grow(void* data, Range& range, size_t bytes);

  Gpu& gpu_;
  UploadRing uploads_;
  size_t granularity_ = 0;
  std::mutex mutex_;
  std::map<void*, Range> ranges_;
  size_t mapped_ = 0;  // of all ranges
};

}  // namespace dragoman::internal
