#include "base/error.h"
#include "ops/ops.h"
#include "ops/products.h"
#include "ops/trace.h"

namespace dragoman::internal {
namespace {

// The activation's derivative is a function of its output for relu, of its input for the others.
bool needs_input(Activation activation) {
  return activation != Activation::none && activation != Activation::relu;
}

}  // namespace

Tensor linear(Pass& pass, const Tensor& x, const Tensor& weight, const Tensor& bias,
              const LinearOptions& options) {
  CHECK(options.dropout == 0 || options.rows != nullptr, "dropout without rows");
  Device& device = pass.device;
  const Precision precision = pass.precision;
  const Activation activation = options.activation;
  const Dropout dropout = options.rows != nullptr ? pass.dropout(options.dropout, *options.rows) : Dropout{};
  const bool rounds = rounds_once(device, precision);
  // Who traces a pass reads floats.
  const bool decodes_in_bf16 =
      pass.tape == nullptr && pass.trace == nullptr && is_kept_in_bf16(device, weight);
  const Numbers numbers = (rounds || decodes_in_bf16) && options.for_bf16 ? Numbers::bf16 : Numbers::floats;
  const Tensor y(device.pool, x.rows(), weight.columns(), numbers);
  // What comes out of an activation goes into a product.
  if (activation != Activation::none && rounds) y.keep_rounded();
  const bool saves = pass.tape != nullptr && needs_input(activation);
  const Tensor saved = saves ? Tensor(device.pool, y.rows(), y.columns(), numbers) : y;
  // The library adds a bias in the numbers of y.
  const Precision of_bias = numbers == Numbers::bf16 ? Precision::bf16 : precision;
  const ConstMatrix b = bias ? operand(device, of_bias, bias) : ConstMatrix{};

  multiply_by_weight(device, operand(device, precision, x), weight,
                     {.keep = pass.tape == nullptr, .precision = precision}, y.matrix(),
                     {.bias = b.data,
                      .rounded_bias = b.rounded,
                      .before_activation = saves ? saved.data() : nullptr,
                      .rounded_before_activation = saves ? saved.matrix().rounded : nullptr,
                      .activation = activation,
                      .dropout = dropout});
  if (pass.trace != nullptr) pass.trace->products.push_back({x, weight, y});

  if (pass.tape == nullptr) return y;
  pass.tape->record({&weight, &bias}, [&device, precision, x, weight, bias, y, saved, activation, dropout] {
    Matrix dy = y.gradient();  // becomes that of x·weight + bias
    Array<uint16_t> rounded;
    if (rounds_once(device, precision) && dy.rounded == nullptr) {
      rounded = Array<uint16_t>(device.pool, dy.rows * dy.stride);
      dy.rounded = rounded.data();
    }
    const ConstMatrix read = activation == Activation::none ? ConstMatrix{} : saved;  // y may be gone
    device.kernels.activation_backward(device.context, activation, read, dy, dropout,
                                       bias ? bias.gradient().data : nullptr);
    const auto dx = x.gradient_target();
    multiply_by_weight(device, dy, weight, {.transposed = true, .precision = precision}, dx.matrix,
                       {.accumulate = dx.accumulate});
    multiply(device, precision, operand(device, precision, x).transposed(), dy, weight.gradient(),
             {.accumulate = true});
  });
  return y;
}

}  // namespace dragoman::internal
