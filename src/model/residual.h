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
      : pass_(pass), config_(config), rows_(rows), norms_(norms), last_{.sum = x, .normed = x} {
    if (config.norm == NormOrder::pre) {
      const Norm& first = next_norm();
      last_.normed = norm(pass, x, first.gain, first.bias, epsilon());
    }
  }

  // What the next sublayer reads.
  const Tensor& input() const { return last_.normed; }

  // Adds a sublayer's output, which is not to be read any more.
  void add(const Tensor& branch) {
    const SumAndNorm before = last_;
    const Norm& next = next_norm();
    last_ = add_dropout_norm(pass_, config_.norm == NormOrder::pre ? before.sum : before.normed, branch,
                             static_cast<float>(config_.dropout), rows_, next.gain, next.bias, epsilon());
    if (pass_.tape != nullptr) keep_for_backward(branch, before);
  }

  // What leaves the stack.
  const Tensor& output() const { return last_.normed; }

 private:
  // The sums alone: backward does not read the branch, and what the sublayer read can be normed again.
  void keep_for_backward(const Tensor& branch, const SumAndNorm& before) {
    branch.drop_values();
    if (used_ < 2) return;  // no norm was before the sublayer
    const Norm& last = *norms_[used_ - 2];
    norm_again(pass_, before, last.gain, last.bias, epsilon());
  }

  const Norm& next_norm() { return *norms_[used_++]; }
  float epsilon() const { return static_cast<float>(config_.norm_eps); }

  Pass& pass_;
  const ModelConfig& config_;
  const Array<RowKey>& rows_;
  const std::vector<const Norm*>& norms_;
  size_t used_ = 0;
  SumAndNorm last_;
};

}  // namespace dragoman
