#include "base/error.h"
#include "ops/ops.h"
#include "ops/products.h"
#include "ops/trace.h"

namespace dragoman::internal {
namespace {

// RMSNorm has no bias.
const float* values_of(const Tensor& bias) { return bias ? bias.data() : nullptr; }
float* gradient_of(const Tensor& bias) { return bias ? bias.gradient().data : nullptr; }

// Products read what has been normalised. Their gradients of it, which may be several, add up in floats.
Tensor new_normed(const Pass& pass, const Tensor& x, bool for_products) {
  const bool rounds = pass.tape != nullptr && rounds_once(pass.device, pass.precision);
  Tensor normed(pass.device.pool, x.rows(), x.columns(),
                rounds && for_products ? Numbers::bf16_values : Numbers::floats);
  if (rounds) normed.keep_rounded();
  return normed;
}

}  // namespace

Tensor norm(Pass& pass, const Tensor& x, const Tensor& gain, const Tensor& bias, float epsilon,
            bool for_products) {
  Device& device = pass.device;
  const Tensor normed = new_normed(pass, x, for_products);
  const Tensor statistics(device.pool, x.rows(), 2);
  device.kernels.add_dropout_norm(device.context, x, {}, {}, gain.data(), values_of(bias), epsilon,
                                  x.matrix(), normed.matrix(), statistics.data());
  if (pass.trace != nullptr) pass.trace->norms.push_back({gain, {}, {}, x, normed});

  if (pass.tape == nullptr) return normed;
  pass.tape->record({&gain, &bias}, [&device, x, normed, statistics, gain, bias] {
    const auto dx = x.gradient_target();
    device.kernels.add_dropout_norm_backward(device.context, x, normed.gradient(), statistics.data(),
                                             gain.data(), {}, dx.accumulate, dx.matrix, {},
                                             gain.gradient().data, gradient_of(bias));
  });
  return normed;
}

SumAndNorm add_dropout_norm(Pass& pass, const Tensor& residual, const Tensor& branch, float dropout_rate,
                            const Array<RowKey>& rows, const Tensor& gain, const Tensor& bias, float epsilon,
                            bool for_products) {
  Device& device = pass.device;
  const Dropout dropout = pass.dropout(dropout_rate, rows);
  const Tensor sum(device.pool, residual.rows(), residual.columns());
  const Tensor normed = new_normed(pass, residual, for_products);
  const Tensor statistics(device.pool, residual.rows(), 2);
  device.kernels.add_dropout_norm(device.context, residual, branch, dropout, gain.data(), values_of(bias),
                                  epsilon, sum.matrix(), normed.matrix(), statistics.data());
  if (pass.trace != nullptr) pass.trace->norms.push_back({gain, residual, branch, sum, normed});

  if (pass.tape == nullptr) return {sum, normed};
  pass.tape->record(
      {&gain, &bias}, [&device, residual, branch, sum, normed, statistics, gain, bias, dropout] {
        // What later layers gave to the sum, and what comes back through the norm, flows on to both inputs.
        const auto dsum = sum.gradient_target();
        const auto dbranch = branch.gradient_target();
        CHECK(!dbranch.accumulate, "a branch has one use");
        device.kernels.add_dropout_norm_backward(device.context, sum, normed.gradient(), statistics.data(),
                                                 gain.data(), dropout, dsum.accumulate, dsum.matrix,
                                                 dbranch.matrix, gain.gradient().data, gradient_of(bias));
        if (!residual.take_gradient_of(sum)) {
          device.kernels.add(device.context, 1, sum.gradient(), residual.gradient_sum());
        }
      });
  return {sum, normed};
}

void recompute_norm(Pass& pass, const SumAndNorm& both, const Tensor& gain, const Tensor& bias,
                    float epsilon) {
  Device& device = pass.device;
  const bool rounded = both.normed.is_rounded();  // too
  both.normed.drop_values();
  pass.tape->record({}, [&device, both, gain, bias, epsilon, rounded] {
    const auto& [sum, normed] = both;
    normed.renew_values();
    if (rounded) normed.keep_rounded();
    const Tensor statistics(device.pool, sum.rows(), 2);
    device.kernels.add_dropout_norm(device.context, sum, {}, {}, gain.data(), values_of(bias), epsilon,
                                    sum.matrix(), normed.matrix(), statistics.data());
  });
}

}  // namespace dragoman::internal
