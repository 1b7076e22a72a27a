// A device whose memory is the host's, though nobody is told so. It counts downloads, for each of which the host would
// wait for a GPU, and the bytes of uploads: of all, and of those after a download.
#pragma once

#include <memory>
#include <utility>

#include "kernels/memory.h"

namespace dragoman::internal {

class CountingMemory final : public DeviceMemory {
 public:
  void* reserve(size_t bytes) override { return cpu_memory().reserve(bytes); }
  void release(void* data, size_t bytes) override { cpu_memory().release(data, bytes); }
  void commit(void* data, size_t bytes) override { cpu_memory().commit(data, bytes); }
  void upload(void* to, const void* from, size_t bytes) override {
    uploaded += bytes;
    if (downloads > 0) uploaded_after_waiting += bytes;
    cpu_memory().upload(to, from, bytes);
  }
  void download(void* to, const void* from, size_t bytes) override {
    ++downloads;
    cpu_memory().download(to, from, bytes);
  }
  void copy(void* to, const void* from, size_t bytes) override { cpu_memory().copy(to, from, bytes); }
  void fill(Matrix to, float value) override { cpu_memory().fill(to, value); }
  std::shared_ptr<const void> adopt(std::shared_ptr<const void> host, size_t bytes) override {
    return cpu_memory().adopt(std::move(host), bytes);
  }
  bool is_host_memory() const override { return false; }

  int downloads = 0;
  size_t uploaded = 0, uploaded_after_waiting = 0;
};

}  // namespace dragoman::internal
