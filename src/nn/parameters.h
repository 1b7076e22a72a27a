// Parameters: the weights of a model in one flat buffer, their gradients in another.
//
// A model first declares all of its parameters, which gives it handles; then allocate() lays them out, each at a
// multiple of 64 bytes. One buffer means that the optimiser is one pass, and that a reduction over processes
// works on slices. Constants, which the model file has but training leaves as they are, come last.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/device.h"
#include "tensor/tensor.h"

namespace dragoman::internal {

// How a parameter is initialised: uniform in ±amount, normal with the standard deviation `amount`, or constant.
struct Initial {
  enum class Kind { constant, uniform, normal } kind = Kind::constant;
  float amount = 0;
};

// How a parameter is used, and so how low precision may hold it. plain: in fp32 only. weight: the right operand of
// products. table: rows that are looked up, and, transposed, the right operand of products.
enum class Role { plain, weight, table };

// The matrices that a weight consists of: `across` side by side in each of `down` rows of them.
struct Submatrices {
  int64_t down = 1, across = 1;
};

struct Parameter {
  std::string name;  // in model files
  Tensor value;
  Initial initial;
  Role role;
  Submatrices submatrices;
  bool constant = false;
  int64_t offset = 0;  // in the flat buffers, once they are allocated

  int64_t size() const { return value.rows() * value.columns(); }
};

// Which buffers are allocated.
enum class Buffers { none_yet, weights, weights_and_gradients };

class Parameters {
 public:
  explicit Parameters(Pool& pool) : pool_(&pool) {}

  Tensor declare(std::string name, int64_t rows, int64_t columns, Initial initial, Role role = Role::plain,
                 Submatrices submatrices = {});
  Tensor declare_constant(std::string name, int64_t rows, int64_t columns, Initial initial);

  // Lays out what was declared, filled with zeros. Training needs gradients as well.
  void allocate(Buffers buffers);
  bool allocated() const { return static_cast<bool>(weights_); }

  // Keeps memory that storages point to alive as long as the parameters.
  void keep(std::shared_ptr<const void> memory) { kept_.push_back(std::move(memory)); }

  // Points to the weights of another model of this shape, including the packed ones that are cached by now. They must
  // outlive these parameters and not change.
  void borrow(const Parameters& lender);

  // Each parameter from random numbers of its own, a function of the seed and its name.
  void initialise(uint64_t seed);

  // Sets all gradients to zero.
  void clear_gradients();

  // To be called whenever weights have changed: drops the packed copies that decoding caches, and the rounded ones.
  void changed();

  // All weights in bf16 at once, for products that read operands so; otherwise each is rounded where it is first used.
  // Where no product does it does nothing.
  void round(Device&);

  const std::vector<Parameter>& list() const { return list_; }
  // Device memory: for kernels, copies and HostViews.
  std::span<float> weights() const { return flat(weights_); }
  std::span<float> gradients() const { return flat(gradients_); }
  int64_t trained_size() const { return trained_size_; }  // of both, without the constants
  DeviceMemory& memory() const { return pool_->memory(); }

 private:
  Tensor add(Parameter parameter);
  void lay_out();
  std::span<float> flat(const Tensor& buffer) const;

  Pool* pool_;
  std::vector<Parameter> list_;
  int64_t size_ = 0, trained_size_ = 0;  // of the flat buffers, in floats
  Tensor weights_, gradients_, rounded_;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace dragoman::internal
