// A device's memory that is the host's, though nobody is told so, and that may be lost as a GPU is: everything that the
// host then asks of it fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "base/error.h"
#include "kernels/memory.h"

namespace dragoman::internal {

class LosableMemory final : public DeviceMemory {
 public:
  void* reserve(size_t bytes) override {
    if (bytes > most_addresses) throw std::bad_alloc();
    return cpu_memory().reserve(bytes);
  }
  void release(void* data, size_t bytes) override { cpu_memory().release(data, bytes); }
  void commit(void* data, size_t bytes) override {
    if (bytes > most) throw Error("out of memory");
    cpu_memory().commit(data, bytes);
  }
  void upload(void* to, const void* from, size_t bytes) override {
    check();
    uploaded += static_cast<int64_t>(bytes);
    cpu_memory().upload(to, from, bytes);
  }
  void download(void* to, const void* from, size_t bytes) override {
    if (on_first_wait && waits == 0) on_first_wait();
    ++waits;
    if (--left_ == 0) lost_ = true;
    check();
    cpu_memory().download(to, from, bytes);
  }
  void copy(void* to, const void* from, size_t bytes) override {
    check();
    cpu_memory().copy(to, from, bytes);
  }
  void fill(Matrix to, float value) override {
    check();
    cpu_memory().fill(to, value);
  }
  std::shared_ptr<const void> adopt(std::shared_ptr<const void> host, size_t bytes) override {
    return cpu_memory().adopt(std::move(host), bytes);
  }
  bool is_host_memory() const override { return false; }

  // For good, until it is found again.
  void lose_after(int downloads) { left_ = downloads; }
  void find() { left_ = 0, lost_ = false; }

  std::atomic<size_t> most = SIZE_MAX;  // bytes that it has
  size_t most_addresses = SIZE_MAX;     // in one range
  std::atomic<int> waits = 0, refused = 0;
  std::function<void()> on_first_wait = {};
  std::atomic<int64_t> uploaded = 0;  // bytes

 private:
  std::atomic<int> left_ = 0;  // downloads until it is lost; 0: it is not going to be
  std::atomic<bool> lost_ = false;

  void check() {
    if (!lost_) return;
    ++refused;
    throw Error("the device is lost");
  }
};

}  // namespace dragoman::internal
