// Tensor: a matrix of floats in a device's memory, with room for its gradient.
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
#include "tensor/storage.h"

namespace dragoman::internal {

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

// What a tensor is in memory. Where products round their operands to bf16, what only they read may be there in nothing
// else: its values, or its values and its gradient.
enum class Numbers { floats, bf16_values, bf16 };

class Tensor {
 public:
  Tensor() = default;
  Tensor(Pool& pool, int64_t rows, int64_t columns, Numbers = Numbers::floats);  // with unspecified content
  static Tensor parameter(Pool& pool, int64_t rows, int64_t columns);  // without memory: its owner sets data

  explicit operator bool() const { return storage_.get() != nullptr; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  float* data() const { return at_offset(storage_->data); }  // for kernels
  Matrix matrix() const { return {data(), rows_, columns_, stride_, rounded()}; }
  operator ConstMatrix() const { return matrix(); }
  Storage& storage() const { return *storage_.get(); }
  Pool& pool() const { return *storage_->pool_; }
  bool is_low_precision() const { return storage_->low_precision.data != nullptr; }
  bool is_in_bf16() const { return storage_->values_in_bf16_; }  // alone

  // What the host reads, and writes: of whole rows.
  HostView<const float> values() const { return {pool().memory(), dense()}; }
  HostView<float> writable_values() const { return {pool().memory(), dense()}; }
  // What the host writes without a look at what is there: all of it.
  HostView<float> new_values() const { return {pool().memory(), dense(), Content::replaced}; }

  Tensor column_range(int64_t begin, int64_t count) const;
  Tensor row_range(int64_t begin, int64_t count) const;

  bool has_gradient() const { return storage_->gradient != nullptr || storage_->rounded_gradient != nullptr; }
  Matrix gradient() const;  // what has been written

  // The gradient as a target: the caller must write all of it, or add to it if `accumulate` is set.
  struct GradientTarget {
    Matrix matrix;
    bool accumulate;
  };
  GradientTarget gradient_target() const;

  // The gradient as a target that is only added to: zeros if there was none.
  Matrix gradient_sum() const;

  // Allocates the gradients of several views for the caller to write, if together they cover all of their tensors and
  // none has one yet; otherwise does nothing and returns false.
  static bool make_gradients(std::initializer_list<Tensor> views);

  // Takes over `other`'s gradient if this tensor has none (both whole and of the same shape); otherwise does nothing
  // and returns false.
  bool take_gradient_of(const Tensor& other) const;

  // Makes room for the values in bf16 as well, with unspecified content, for the kernel that writes or rounds them; and
  // frees it.
  bool is_rounded() const { return storage_->rounded != nullptr; }
  void keep_rounded() const;
  void drop_rounded() const;
  bool whole() const { return offset_ == 0 && rows_ * columns_ == storage_->size; }

  // Frees the memory of the values, which nothing reads any more, for all handles; the gradient stays. Then allocates
  // it again, with unspecified content.
  void drop_values() const;
  void renew_values() const;

 private:
  std::span<float> dense() const;
  template <class T>
  T* at_offset(T* numbers) const {
    return numbers != nullptr ? numbers + offset_ : nullptr;
  }
  uint16_t* rounded() const { return at_offset(storage_->rounded); }
  void allocate_gradient() const;

  StorageRef storage_;
  int64_t offset_ = 0, rows_ = 0, columns_ = 0, stride_ = 0;
};

}  // namespace dragoman::internal
