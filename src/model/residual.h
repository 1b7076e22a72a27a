// Residual: all that stands around a sublayer (the paper, sections 3.1 and 5.4). It alone knows residual
// connections, their dropout, and on which side of a sublayer the norms are.
//
//   pre    x = x + Dropout(Sublayer(LayerNorm(x))), and a norm at the end of the stack
//   post   x = LayerNorm(x + Dropout(Sublayer(x)))
//
// Both are one walk along the stack's norms: adding a sublayer's output and applying the next norm is one op,
// whether that norm closes this sublayer (post) or opens what follows it (pre).
#pragma once

#include <vector>

#include "model/config.h"
#include "nn/layers.h"

namespace dragoman {

class Residual {
 public:
  // `norms`: the stack's, in the order of their use. `rows`: of x.
  Residual(Pass& pass, const ModelConfig& config, const Array<RowKey>& rows,
           const std::vector<const Norm*>& norms, Tensor x)
      : pass_(pass), config_(config), rows_(rows), norms_(norms), sum_(x), normed_(x) {
    if (config.norm == NormOrder::pre) {
      const Norm& first = next_norm();
      normed_ = norm(pass, x, first.gain, first.bias, epsilon());
    }
  }

  // What the next sublayer reads.
  const Tensor& input() const { return normed_; }

  // Adds a sublayer's output.
  void add(const Tensor& branch) {
    const Norm& next = next_norm();
    auto [sum, normed] = add_dropout_norm(pass_, sum_, branch, static_cast<float>(config_.dropout), rows_,
                                          next.gain, next.bias, epsilon());
    sum_ = config_.norm == NormOrder::pre ? sum : normed;
    normed_ = normed;
  }

  // What leaves the stack.
  const Tensor& output() const { return normed_; }

 private:
  const Norm& next_norm() { return *norms_[used_++]; }
  float epsilon() const { return static_cast<float>(config_.norm_eps); }

  Pass& pass_;
  const ModelConfig& config_;
  const Array<RowKey>& rows_;
  const std::vector<const Norm*>& norms_;
  size_t used_ = 0;
  Tensor sum_, normed_;
};

}  // namespace dragoman
