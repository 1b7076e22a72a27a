// Tensor: a matrix of floats in a pool's memory, with room for its gradient.
//
// A packed batch makes every activation a matrix (tokens × width), so there are no other ranks. A Tensor is a
// handle: copies and views share one Storage, which lives as long as any of them. A view of some columns or
// rows has the corresponding part of the gradient.
//
// Handles are counted without locks: they belong to the thread that runs the model.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "kernels/kernels.h"
#include "tensor/pool.h"

namespace dragoman {

// The memory behind tensors. Parameters point into flat buffers that somebody else owns.
class Storage {
 public:
  float* data = nullptr;
  float* gradient = nullptr;  // null until somebody writes it; a parameter's is there from the start
  int64_t size = 0;           // floats
  bool parameter = false;
  int pending = 0;  // closures on the tape that will still add to this parameter's gradient
  int index = -1;   // a parameter's number

  // The matrix in the order that products read it, kept while a parameter does not change; see ops/products.h.
  const float* packed = nullptr;
  bool packed_transposed = false;
  Pool::Block packed_block;  // its memory, where it is not borrowed

  // What decoding may have instead of a parameter's floats, data then being null. Somebody else owns it.
  LowPrecisionMatrix low_precision = {};

 private:
  friend class StorageRef;
  int references_ = 0;
  Pool* pool_ = nullptr;
  Pool::Block data_block_, gradient_block_;
  friend class Tensor;
};

class StorageRef {
 public:
  StorageRef() = default;
  explicit StorageRef(Storage* storage) : storage_(storage) { ++storage_->references_; }
  StorageRef(const StorageRef& other) : storage_(other.storage_) {
    if (storage_ != nullptr) ++storage_->references_;
  }
  StorageRef(StorageRef&& other) noexcept : storage_(std::exchange(other.storage_, nullptr)) {}
  StorageRef& operator=(StorageRef other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~StorageRef() { release(); }

  Storage* operator->() const { return storage_; }
  Storage* get() const { return storage_; }

 private:
  void release();
  Storage* storage_ = nullptr;
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(Pool& pool, int64_t rows, int64_t columns);                   // of any content
  static Tensor parameter(Pool& pool, int64_t rows, int64_t columns);  // without memory: its owner sets data

  explicit operator bool() const { return storage_.get() != nullptr; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  float* data() const { return storage_->data + offset_; }
  Matrix matrix() const { return {data(), rows_, columns_, stride_}; }
  operator ConstMatrix() const { return matrix(); }
  Storage& storage() const { return *storage_.get(); }
  bool is_low_precision() const { return storage_->low_precision.data != nullptr; }

  Tensor column_range(int64_t begin, int64_t count) const;
  Tensor row_range(int64_t begin, int64_t count) const;

  bool has_gradient() const { return storage_->gradient != nullptr; }
  Matrix gradient() const;  // what has been written

  // The gradient as a target: whoever asks must write all of it, or add to it where `accumulate` says so.
  struct GradientTarget {
    Matrix matrix;
    bool accumulate;
  };
  GradientTarget gradient_target() const;

  // The gradient as a target that is only added to: zeros where there was none.
  Matrix gradient_sum() const;

  // Makes the gradients of several views, to be written by whoever asks, where they are together all of their tensors
  // and none has any; false where not, and nothing was done.
  static bool make_gradients(std::initializer_list<Tensor> views);

  // This tensor takes over `other`'s gradient where it has none of its own (both whole and of one shape);
  // false where it has, and nothing was done.
  bool take_gradient_of(const Tensor& other) const;

  // Gives the memory of the values back, where nothing reads them any more, for all handles; the gradient stays.
  // And room for them again, of any content.
  void drop_values() const;
  void renew_values() const;

 private:
  bool whole() const { return offset_ == 0 && rows_ * columns_ == storage_->size; }
  void allocate_gradient() const;

  StorageRef storage_;
  int64_t offset_ = 0, rows_ = 0, columns_ = 0, stride_ = 0;
};

}  // namespace dragoman
