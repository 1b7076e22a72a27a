// Array: numbers that are not differentiated (ids, spans, targets) in a device's memory.
//
// Owns its block; moves, does not copy.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "tensor/pool.h"

namespace dragoman::internal {

template <class T>
class Array {
 public:
  Array() = default;
  Array(Pool& pool, int64_t size)
      : pool_(&pool), block_(pool.allocate(static_cast<size_t>(size) * sizeof(T))), size_(size) {}
  Array(Pool& pool, std::span<const T> values) : Array(pool, static_cast<int64_t>(values.size())) {
    pool.memory().upload(block_.data, values.data(), values.size_bytes());
  }
  Array(Array&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)),
        block_(other.block_),
        size_(std::exchange(other.size_, 0)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(block_, other.block_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Array() {
    if (pool_ != nullptr) pool_->free(block_);
  }

  T* data() const { return static_cast<T*>(block_.data); }  // for kernels
  int64_t size() const { return size_; }

  // What the host reads, and writes.
  HostView<const T> values() const { return {pool_->memory(), {data(), static_cast<size_t>(size_)}}; }
  HostView<T> writable_values() const { return {pool_->memory(), {data(), static_cast<size_t>(size_)}}; }
  // What the host writes without a look at what is there: all of it.
  HostView<T> new_values() const {
    return {pool_->memory(), {data(), static_cast<size_t>(size_)}, Content::replaced};
  }
  std::vector<T> download() const {
    std::vector<T> values(static_cast<size_t>(size_));
    pool_->memory().download(values.data(), data(), values.size() * sizeof(T));
    return values;
  }

 private:
  Pool* pool_ = nullptr;
  Block block_;
  int64_t size_ = 0;
};

}  // namespace dragoman::internal
