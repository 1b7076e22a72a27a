// Memory of the host's twin of a GPU that only grows.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace dragoman::internal::on_host {

class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  // Aligned to 256 bytes; its floats are NaN.
  void* get(size_t bytes);

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace dragoman::internal::on_host
