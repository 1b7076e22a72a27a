// Parameters: the weights of a model in one flat buffer, their gradients in another.
//
// A model first declares all of its parameters, which gives it handles; then allocate() lays them out, each at a
// multiple of 64 bytes. One buffer means that the optimiser is one pass, and that a reduction over processes
// works on slices.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/device.h"
#include "tensor/tensor.h"

namespace dragoman {

// How a parameter begins: uniform in ±amount, normal with the deviation `amount`, or all of it `amount`.
struct Initial {
  enum class Kind { constant, uniform, normal } kind = Kind::constant;
  float amount = 0;
};

// What a parameter is used for, and so how it may be kept in fewer bits. plain: as it is, in floats. weight: the right
// operand of products. table: rows that are looked up, and the right operand of products when transposed.
enum class Role { plain, weight, table };

struct Parameter {
  std::string name;  // what model files call it
  Tensor value;
  Initial initial;
  Role role;
  int64_t offset;  // in the flat buffers

  int64_t size() const { return value.rows() * value.columns(); }
};

// What parameters have memory for.
enum class Buffers { none_yet, weights, weights_and_gradients };

class Parameters {
 public:
  explicit Parameters(Pool& pool) : pool_(&pool) {}

  Tensor declare(std::string name, int64_t rows, int64_t columns, Initial initial, Role role = Role::plain);

  // Lays out what was declared: zeros. Training needs gradients as well.
  void allocate(Buffers buffers);
  bool allocated() const { return static_cast<bool>(weights_); }

  // Keeps memory that storages were pointed to, for as long as the parameters are there.
  void keep(std::shared_ptr<const void> memory) { kept_.push_back(std::move(memory)); }

  // Reads the weights of another model of this shape where they are, and in the orders that decoding keeps of them by
  // now. They must outlive these parameters and stay as they are.
  void borrow(const Parameters& lender);

  // Each parameter from its own numbers, a function of the seed and its name.
  void initialise(uint64_t seed);

  // To be called whenever weights have changed: forgets what decoding keeps of them.
  void changed();

  const std::vector<Parameter>& list() const { return list_; }
  std::span<float> weights() const { return flat(weights_); }
  std::span<float> gradients() const { return flat(gradients_); }

 private:
  std::span<float> flat(const Tensor& buffer) const;

  Pool* pool_;
  std::vector<Parameter> list_;
  int64_t size_ = 0;  // of the flat buffers, in floats
  Tensor weights_, gradients_;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace dragoman
