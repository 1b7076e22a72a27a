#include "nn/layers.h"

#include <cmath>

namespace dragoman::internal {

Linear LayerMaker::linear(const std::string& name, int64_t in, int64_t out, const LinearParts& parts) const {
  return {.weight = weight(name, in, out, parts),
          .bias = parameters_.declare(name + ".bias", 1, out * parts.count, bias(in))};
}

Linear LayerMaker::linear_from_zero_bias(const std::string& name, int64_t in, int64_t out,
                                         const LinearParts& parts) const {
  return {.weight = weight(name, in, out, parts),
          .bias = parameters_.declare(name + ".bias", 1, out * parts.count, {})};
}

Tensor LayerMaker::weight(const std::string& name, int64_t in, int64_t out, const LinearParts& parts) const {
  return parameters_.declare(name + ".weight", in, out * parts.count, matrix(in, out), Role::weight,
                             parts.submatrices());
}

Norm LayerMaker::norm(const std::string& name, int64_t width) const {
  Norm norm = {.gain = parameters_.declare(name + ".gain", 1, width, {Initial::Kind::constant, 1})};
  if (norm_kind_ == NormKind::layer)
    norm.bias = parameters_.declare(name + ".bias", 1, width, {Initial::Kind::constant, 0});
  return norm;
}

Tensor LayerMaker::distances(const std::string& name, int64_t farthest, int64_t width) const {
  const int64_t rows = 2 * farthest + 1;
  return parameters_.declare(name, rows, width, matrix(rows, width));
}

Initial LayerMaker::matrix(int64_t in, int64_t out) const {
  const double bound = initialiser_ == Initialiser::xavier ? std::sqrt(6.0 / static_cast<double>(in + out))
                                                           : 1 / std::sqrt(static_cast<double>(in));
  return {Initial::Kind::uniform, static_cast<float>(bound)};
}

Initial LayerMaker::bias(int64_t in) const {
  if (initialiser_ == Initialiser::xavier) return {};
  return {Initial::Kind::uniform, static_cast<float>(1 / std::sqrt(static_cast<double>(in)))};
}

}  // namespace dragoman::internal
