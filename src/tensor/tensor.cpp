#include "tensor/tensor.h"

#include "base/error.h"

namespace dragoman::internal {
namespace {

// Whole floats in either case, as memory is filled by floats.
size_t bytes_of(int64_t size, bool in_bf16) {
  return static_cast<size_t>(in_bf16 ? (size + 1) / 2 : size) * sizeof(float);
}

}  // namespace

void StorageRef::release() {
  if (storage_ == nullptr || --storage_->references_ > 0) return;
  Pool& pool = *storage_->pool_;
  for (const Block& block :
       {storage_->data_block_, storage_->gradient_block_, storage_->packed_block, storage_->rounded_block}) {
    if (block.data != nullptr) pool.free(block);
  }
  pool.free_storage(storage_);
}

Tensor Tensor::parameter(Pool& pool, int64_t rows, int64_t columns) {
  Tensor tensor;
  tensor.storage_ = StorageRef(pool.allocate_storage());
  tensor.storage_->pool_ = &pool;
  tensor.storage_->size = rows * columns;
  tensor.storage_->parameter = true;
  tensor.rows_ = rows;
  tensor.columns_ = tensor.stride_ = columns;
  return tensor;
}

Tensor::Tensor(Pool& pool, int64_t rows, int64_t columns, Numbers numbers) {
  *this = parameter(pool, rows, columns);
  storage_->parameter = false;
  storage_->values_in_bf16_ = numbers != Numbers::floats;
  storage_->gradient_in_bf16_ = numbers == Numbers::bf16;
  renew_values();
}

Tensor Tensor::column_range(int64_t begin, int64_t count) const {
  CHECK(begin >= 0 && count >= 0 && begin + count <= columns_, "columns [{}, {}) of {} × {}", begin,
        begin + count, rows_, columns_);
  Tensor view = *this;
  view.offset_ += begin;
  view.columns_ = count;
  return view;
}

Tensor Tensor::row_range(int64_t begin, int64_t count) const {
  CHECK(begin >= 0 && count >= 0 && begin + count <= rows_, "rows [{}, {}) of {} × {}", begin, begin + count,
        rows_, columns_);
  Tensor view = *this;
  view.offset_ += begin * stride_;
  view.rows_ = count;
  return view;
}

std::span<float> Tensor::dense() const {
  CHECK(stride_ == columns_ || rows_ <= 1, "{} columns of {} are not whole rows", columns_, stride_);
  CHECK(!is_in_bf16(), "the host does not read bf16");
  return {data(), static_cast<size_t>(rows_ * columns_)};
}

Matrix Tensor::gradient() const {
  CHECK(has_gradient(), "no gradient has reached this {} × {} tensor", rows_, columns_);
  return {at_offset(storage_->gradient), rows_, columns_, stride_, at_offset(storage_->rounded_gradient)};
}

void Tensor::allocate_gradient() const {
  CHECK(!storage_->parameter, "a parameter of {} × {} has no gradient: it was made for inference", rows_,
        columns_);
  Storage& storage = *storage_.get();
  storage.gradient_block_ = storage.pool_->allocate(bytes_of(storage.size, storage.gradient_in_bf16_));
  if (storage.gradient_in_bf16_) {
    storage.rounded_gradient = static_cast<uint16_t*>(storage.gradient_block_.data);
  } else {
    storage.gradient = static_cast<float*>(storage.gradient_block_.data);
  }
}

Tensor::GradientTarget Tensor::gradient_target() const {
  if (has_gradient()) return {gradient(), true};
  if (!whole()) return {gradient_sum(), true};
  allocate_gradient();
  return {gradient(), false};
}

Matrix Tensor::gradient_sum() const {
  if (!has_gradient()) {
    allocate_gradient();
    const auto floats =
        static_cast<int64_t>(bytes_of(storage_->size, storage_->gradient_in_bf16_) / sizeof(float));
    pool().memory().fill({static_cast<float*>(storage_->gradient_block_.data), 1, floats, floats}, 0);
  }
  return gradient();
}

bool Tensor::make_gradients(std::initializer_list<Tensor> views) {
  for (const Tensor& view : views) {
    int64_t size = 0;
    for (const Tensor& other : views)
      size += other.storage_.get() == view.storage_.get() ? other.rows_ * other.columns_ : 0;
    if (view.has_gradient() || size != view.storage_->size) return false;
  }
  for (const Tensor& view : views) {
    if (!view.has_gradient()) view.allocate_gradient();
  }
  return true;
}

bool Tensor::take_gradient_of(const Tensor& other) const {
  if (has_gradient() || !whole() || !other.whole() || rows_ != other.rows_ || columns_ != other.columns_)
    return false;
  if (storage_->gradient_in_bf16_ != other.storage_->gradient_in_bf16_) return false;
  std::swap(storage_->gradient, other.storage_->gradient);
  std::swap(storage_->rounded_gradient, other.storage_->rounded_gradient);
  std::swap(storage_->gradient_block_, other.storage_->gradient_block_);
  return true;
}

void Tensor::drop_values() const {
  CHECK(storage_->data_block_.data != nullptr || is_in_bf16(), "this {} × {} tensor has no values of its own",
        rows_, columns_);
  if (!is_in_bf16()) storage_->pool_->free(std::exchange(storage_->data_block_, {}));
  storage_->data = nullptr;
  drop_rounded();
}

void Tensor::keep_rounded() const {
  if (storage_->rounded != nullptr) return;
  storage_->rounded_block = pool().allocate(bytes_of(storage_->size, true));
  storage_->rounded = static_cast<uint16_t*>(storage_->rounded_block.data);
}

void Tensor::drop_rounded() const {
  if (storage_->rounded_block.data != nullptr) pool().free(std::exchange(storage_->rounded_block, {}));
  storage_->rounded = nullptr;
}

void Tensor::renew_values() const {
  if (is_in_bf16()) {
    keep_rounded();
    return;
  }
  CHECK(storage_->data == nullptr, "this {} × {} tensor has its values", rows_, columns_);
  storage_->data_block_ = storage_->pool_->allocate(bytes_of(storage_->size, false));
  storage_->data = static_cast<float*>(storage_->data_block_.data);
}

}  // namespace dragoman::internal
