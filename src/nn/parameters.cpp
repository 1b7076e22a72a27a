#include "nn/parameters.h"

#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace dragoman::internal {
namespace {

constexpr int64_t floats_per_line = 16;

float draw(Random& random, const Initial& initial) {
  switch (initial.kind) {
    case Initial::Kind::constant:
      return initial.amount;
    case Initial::Kind::uniform:
      return static_cast<float>(random.uniform(-initial.amount, initial.amount));
    case Initial::Kind::normal:
      return static_cast<float>(random.normal() * initial.amount);
  }
  return 0;
}

}  // namespace

Tensor Parameters::declare(std::string name, int64_t rows, int64_t columns, Initial initial, Role role,
                           Submatrices submatrices) {
  return add({std::move(name), Tensor::parameter(*pool_, rows, columns), initial, role, submatrices});
}

Tensor Parameters::declare_constant(std::string name, int64_t rows, int64_t columns, Initial initial) {
  return add({.name = std::move(name),
              .value = Tensor::parameter(*pool_, rows, columns),
              .initial = initial,
              .role = Role::plain,
              .submatrices = {},
              .constant = true});
}

Tensor Parameters::add(Parameter parameter) {
  CHECK(!weights_, "{} is declared after the parameters were allocated", parameter.name);
  parameter.value.storage().index = static_cast<int>(list_.size());
  list_.push_back(std::move(parameter));
  return list_.back().value;
}

void Parameters::lay_out() {
  size_ = 0;
  for (const bool constants : {false, true}) {
    for (Parameter& parameter : list_) {
      if (parameter.constant != constants) continue;
      parameter.offset = size_;
      size_ += (parameter.size() + floats_per_line - 1) / floats_per_line * floats_per_line;
    }
    if (!constants) trained_size_ = size_;
  }
}

void Parameters::allocate(Buffers buffers) {
  if (buffers == Buffers::none_yet) return;
  lay_out();
  const bool gradients = buffers == Buffers::weights_and_gradients;
  weights_ = Tensor(*pool_, 1, size_);
  pool_->memory().fill(weights_.matrix(), 0);
  if (gradients) {
    gradients_ = Tensor(*pool_, 1, size_);
    clear_gradients();
  }
  for (const Parameter& parameter : list_) {
    Storage& storage = parameter.value.storage();
    storage.data = weights_.data() + parameter.offset;
    storage.gradient = gradients && !parameter.constant ? gradients_.data() + parameter.offset : nullptr;
  }
}

void Parameters::initialise(uint64_t seed) {
  for (const Parameter& parameter : list_) {
    Random random(mix(seed, parameter.name));
    for (float& value : parameter.value.new_values()) value = draw(random, parameter.initial);
  }
  changed();
}

void Parameters::borrow(const Parameters& lender) {
  CHECK(lender.list_.size() == list_.size(), "{} parameters borrow from {}", list_.size(),
        lender.list_.size());
  for (size_t i = 0; i < list_.size(); ++i) {
    CHECK(list_[i].name == lender.list_[i].name && list_[i].size() == lender.list_[i].size(),
          "{} borrows from {}", list_[i].name, lender.list_[i].name);
    const Storage& from = lender.list_[i].value.storage();
    Storage& to = list_[i].value.storage();
    to.data = from.data;
    to.low_precision = from.low_precision;
    to.packed = from.packed;
    to.packed_transposed = from.packed_transposed;
  }
}

void Parameters::clear_gradients() { pool_->memory().fill(gradients_.matrix(), 0); }

void Parameters::changed() {
  for (const Parameter& parameter : list_) {
    Storage& storage = parameter.value.storage();
    parameter.value.drop_rounded();
    if (storage.packed_block.data == nullptr) continue;
    pool_->free(std::exchange(storage.packed_block, {}));
    storage.packed = nullptr;
  }
}

void Parameters::round(Device& device) {
  const auto& round = device.kernels.low_precision.round;
  if (round == nullptr) return;
  if (!rounded_) rounded_ = Tensor(*pool_, 1, size_, Numbers::bf16_values);
  uint16_t* const rounded = rounded_.matrix().rounded;
  constexpr int64_t columns = 64 * floats_per_line;  // rows that are shared out, and one that is left over
  const int64_t rows = size_ / columns, whole = rows * columns;
  round(device.context, {weights_.data(), rows, columns, columns}, rounded);
  round(device.context, {weights_.data() + whole, 1, size_ - whole, size_ - whole}, rounded + whole);
  for (const Parameter& parameter : list_) {
    parameter.value.drop_rounded();
    parameter.value.storage().rounded = rounded + parameter.offset;
  }
}

std::span<float> Parameters::flat(const Tensor& buffer) const {
  if (!buffer) return {};
  return {buffer.data(), static_cast<size_t>(size_)};
}

}  // namespace dragoman::internal
