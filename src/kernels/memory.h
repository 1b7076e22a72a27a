// DeviceMemory: the memory that a device's kernels work on, and everything that the host may do with it.
//
// The host never dereferences a pointer to device memory: it uploads, downloads, copies and fills, or reads and writes
// through a HostView. The CPU's memory is the host's own: a copy is a memcpy there, and a HostView costs nothing.
// Several threads may use one DeviceMemory at a time.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "kernels/kernels.h"

namespace dragoman::internal {

class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  // Address space for a pool. Throws std::bad_alloc.
  virtual void* reserve(size_t bytes) = 0;
  virtual void release(void* data, size_t bytes) = 0;

  // Before the first `bytes` of a reserved range, more than the last time, are used: where pages do not come as they
  // are touched, they are taken now. Throws Error where the device has no more memory.
  virtual void commit(void* data, size_t bytes) = 0;

  virtual void upload(void* to, const void* from, size_t bytes) = 0;    // from the host
  virtual void download(void* to, const void* from, size_t bytes) = 0;  // to the host
  virtual void copy(void* to, const void* from, size_t bytes) = 0;      // within the device
  virtual void fill(Matrix to, float value) = 0;

  // Read-only host memory, such as a mapped file, as kernels can read it: the same memory, which the result keeps
  // alive, or an uploaded copy.
  virtual std::shared_ptr<const void> adopt(std::shared_ptr<const void> host, size_t bytes) = 0;

  // Whether the host can access it in place.
  virtual bool is_host_memory() const = 0;
};

// The CPU's, which is the host's: one for the whole program.
DeviceMemory& cpu_memory();

// What a view begins with: the values that are there; or anything, where all of them are written. A download waits for
// what computes the values, and for all before it.
enum class Content { kept, replaced };

// Values in device memory as the host reads them and, unless T is const, writes them, while the view exists: in place
// where the host can access them, otherwise in a copy that is uploaded again at the end. Kernels must not touch the
// values of a writable view meanwhile.
template <class T>
class HostView {
 public:
  HostView(DeviceMemory& memory, std::span<T> device, Content content = Content::kept)
      : memory_(&memory), device_(device.data()), values_(device) {
    if (memory.is_host_memory()) return;
    copy_ = std::make_unique_for_overwrite<std::remove_const_t<T>[]>(device.size());
    values_ = {copy_.get(), device.size()};
    if (content == Content::kept) memory.download(copy_.get(), device_, values_.size_bytes());
  }
  HostView(HostView&& other) noexcept
      : memory_(other.memory_),
        device_(other.device_),
        copy_(std::move(other.copy_)),
        values_(std::exchange(other.values_, {})) {}
  HostView& operator=(HostView&&) = delete;
  // Throws what the upload throws, unless it ends because of another error, such as of a device that is lost.
  ~HostView() noexcept(std::is_const_v<T>) {
    if constexpr (!std::is_const_v<T>) {
      if (values_.data() == device_ || values_.empty()) return;
      try {
        memory_->upload(device_, values_.data(), values_.size_bytes());
      } catch (...) {
        if (std::uncaught_exceptions() == 0) throw;
      }
    }
  }

  // What was written is not needed on the device: nothing is uploaded at the end.
  void discard() { values_ = {}; }

  T* data() const { return values_.data(); }
  size_t size() const { return values_.size(); }
  T& operator[](size_t i) const { return values_[i]; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  std::span<T> span() const { return values_; }

 private:
  DeviceMemory* memory_;
  T* device_;
  std::unique_ptr<std::remove_const_t<T>[]> copy_;
  std::span<T> values_;
};

}  // namespace dragoman::internal
