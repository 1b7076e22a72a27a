#include "nn/low_rank.h"

#include <cmath>
#include <map>

#include "base/error.h"

namespace dragoman::internal {
namespace {

// In floats, of which products are exact.
Matrix floats(Matrix matrix) {
  matrix.rounded = nullptr;
  return matrix;
}

Matrix values_of(const Tensor& parameter) { return floats(parameter.matrix()); }
Matrix gradient_of(const Tensor& parameter) { return floats(parameter.gradient()); }
ConstMatrix transposed(const Matrix& matrix) { return ConstMatrix(matrix).transposed(); }

}  // namespace

bool is_low_rank(std::string_view parameter) {
  return parameter.ends_with(low_rank_in("")) || is_low_rank_out(parameter);
}

bool is_low_rank_out(std::string_view parameter) { return parameter.ends_with(low_rank_out("")); }

void declare_low_rank_updates(Parameters& parameters, int64_t rank) {
  const std::vector<Parameter> declared = parameters.list();
  for (const Parameter& weight : declared) {
    if (weight.role != Role::weight) continue;
    const int64_t in = weight.value.rows(), out = weight.value.columns();
    const auto deviation = static_cast<float>(1 / std::sqrt(static_cast<double>(in)));
    parameters.declare(low_rank_in(weight.name), in, rank, {Initial::Kind::normal, deviation});
    parameters.declare(low_rank_out(weight.name), rank, out, {});
  }
}

LowRankUpdates::LowRankUpdates(const Parameters& parameters) {
  std::map<std::string_view, Tensor> by_name;
  for (const Parameter& parameter : parameters.list()) by_name.emplace(parameter.name, parameter.value);
  for (const auto& [name, weight] : by_name) {
    const auto in = by_name.find(low_rank_in(name)), out = by_name.find(low_rank_out(name));
    if (in != by_name.end() && out != by_name.end()) all_.push_back({weight, in->second, out->second});
  }
}

void LowRankUpdates::add_to_weights(Device& device) const {
  for (const auto& [weight, in, out] : all_)
    device.kernels.products.multiply(device.context, values_of(in), values_of(out), values_of(weight),
                                     {.accumulate = true});
}

void LowRankUpdates::take_gradients(Device& device) const {
  const auto multiply = device.kernels.products.multiply;
  for (const auto& [weight, in, out] : all_) {
    const Matrix gradient = gradient_of(weight);
    multiply(device.context, gradient, transposed(values_of(out)), gradient_of(in), {});
    multiply(device.context, transposed(values_of(in)), gradient, gradient_of(out), {});
    device.memory.fill(gradient, 0);
  }
}

}  // namespace dragoman::internal
