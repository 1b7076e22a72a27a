// The layers that a Transformer is made of: a few parameters each, and the op that applies them.
//
// A layer is a plain struct; a LayerMaker declares its parameters under a name and initialises them.
#pragma once

#include <string>

#include "nn/parameters.h"
#include "ops/ops.h"

namespace dragoman::internal {

struct Linear {
  Tensor weight;  // in × out
  Tensor bias;    // 1 × out
};

struct Norm {
  Tensor gain, bias;  // 1 × width; RMSNorm has no bias
};

// layer: (x − mean) / √(variance + ε) · gain + bias. rms: x / √(mean of squares + ε) · gain.
enum class NormKind { layer, rms };

// How weights are initialised. xavier: matrices uniform in ±√(6 / (in + out)), biases 0. pytorch: as its nn.Linear,
// weights and biases uniform in ±1/√in.
enum class Initialiser { xavier, pytorch };

// Matrices side by side, each initialised as if it stood alone; and groups of their inputs, or of their outputs, that
// have nothing to do with one another, such as those of heads.
struct LinearParts {
  int64_t count = 1;
  int64_t groups_in = 1, groups_out = 1;

  Submatrices submatrices() const { return {.down = groups_in, .across = count * groups_out}; }
};

class LayerMaker {
 public:
  LayerMaker(Parameters& parameters, Initialiser initialiser, NormKind norm_kind = NormKind::layer)
      : parameters_(parameters), initialiser_(initialiser), norm_kind_(norm_kind) {}

  Linear linear(const std::string& name, int64_t in, int64_t out, const LinearParts& parts = {}) const;
  Linear linear_from_zero_bias(const std::string& name, int64_t in, int64_t out,
                               const LinearParts& parts = {}) const;
  Norm norm(const std::string& name, int64_t width) const;
  // A vector for each distance from -farthest to farthest.
  Tensor distances(const std::string& name, int64_t farthest, int64_t width) const;
  Initial matrix(int64_t in, int64_t out) const;
  Initial bias(int64_t in) const;

 private:
  Tensor weight(const std::string& name, int64_t in, int64_t out, const LinearParts& parts) const;

  Parameters& parameters_;
  Initialiser initialiser_;
  NormKind norm_kind_;
};

inline Tensor linear(Pass& pass, const Tensor& x, const Linear& layer, const LinearOptions& options = {}) {
  return linear(pass, x, layer.weight, layer.bias, options);
}

}  // namespace dragoman::internal
