// OnDevice: numbers in the memory of a table's device, for tests of kernels.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/memory.h"

namespace dragoman::internal {

// Numbers in a device's memory: where that is the host's, in a vector, whose bounds a sanitizer knows.
template <class T>
class OnDevice {
 public:
  OnDevice(DeviceMemory& memory, std::vector<T> values)
      : memory_(memory), host_(std::move(values)), bytes_(host_.size() * sizeof(T)) {
    if (memory.is_host_memory()) return;
    device_ = static_cast<T*>(memory.reserve(std::max(bytes_, size_t{1})));
    memory.commit(device_, bytes_);
    memory.upload(device_, host_.data(), bytes_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    if (device_ != nullptr) memory_.release(device_, std::max(bytes_, size_t{1}));
  }

  T* data() { return device_ != nullptr ? device_ : host_.data(); }
  const std::vector<T>& values() {
    if (device_ != nullptr) memory_.download(host_.data(), device_, bytes_);
    return host_;
  }

 private:
  DeviceMemory& memory_;
  std::vector<T> host_;
  const size_t bytes_;
  T* device_ = nullptr;
};

}  // namespace dragoman::internal
