// Residual: everything around a sublayer (the paper, sections 3.1 and 5.4). It alone knows residual connections, their
// dropout, and on which side of a sublayer the norms are.
//
//   pre    x = x + Dropout(Sublayer(LayerNorm(x))), and a norm at the end of the stack
//   post   x = LayerNorm(x + Dropout(Sublayer(x)))
//
// Adding a sublayer's output and applying the norm that follows it is one fused op. With post that is the sublayer's
// own norm; with pre, that of the next sublayer or the end of the stack, so the sum is deferred until then.
#pragma once

#include <utility>

#include "model/config.h"
#include "nn/layers.h"

namespace dragoman::internal {

class Residual {
 public:
  // `rows`: of x.
  Residual(Pass& pass, const ModelConfig& config, const Array<RowKey>& rows, Tensor x)
      : pass_(pass), config_(config), rows_(rows), last_{.sum = x, .normed = x} {}

  // sublayer(x) → its output, which nobody else reads. `norm` is the sublayer's.
  template <class Sublayer>
  void add(const Norm& norm, const Sublayer& sublayer) {
    if (is_pre()) apply(norm);
    branch_ = sublayer(last_.normed);
    if (!is_pre()) apply(norm);
  }

  // What leaves the stack. `end` is its last norm, which only pre has.
  const Tensor& output(const Norm& end) {
    if (is_pre()) apply(end);
    return last_.normed;
  }

 private:
  // Adds the branch, if there is one yet, and normalises the sum: with pre, for products alone.
  void apply(const Norm& next) {
    const SumAndNorm before = last_;
    const Tensor branch = std::exchange(branch_, {});
    if (!branch) {
      last_.normed = norm(pass_, before.sum, next.gain, next.bias, epsilon(), is_pre());
    } else {
      last_ = add_dropout_norm(pass_, is_pre() ? before.sum : before.normed, branch,
                               static_cast<float>(config_.dropout), rows_, next.gain, next.bias, epsilon(),
                               is_pre());
      if (pass_.tape != nullptr) save_memory(branch, before);
    }
    last_norm_ = &next;
  }

  // Backward does not read the branch, and recomputes what the sublayer read from its sum.
  void save_memory(const Tensor& branch, const SumAndNorm& before) {
    branch.drop_values();
    if (last_norm_ != nullptr) recompute_norm(pass_, before, last_norm_->gain, last_norm_->bias, epsilon());
  }

  bool is_pre() const { return config_.norm == NormOrder::pre; }
  float epsilon() const { return static_cast<float>(config_.norm_eps); }

  Pass& pass_;
  const ModelConfig& config_;
  const Array<RowKey>& rows_;
  SumAndNorm last_;                  // of x; with post, x is the norm
  const Norm* last_norm_ = nullptr;  // that made last_.normed
  Tensor branch_;                    // not added yet
};

}  // namespace dragoman::internal
