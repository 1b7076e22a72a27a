#include <algorithm>

#include "base/error.h"
#include "ops/ops.h"
#include "ops/products.h"

namespace dragoman::internal {
namespace {

constexpr int64_t chunk_step = 64;

// Rows whose logits may exist at once. The weight's gradient is read and written once for each such chunk.
int64_t most_chunk_rows(int64_t vocabulary, int64_t logits) {
  return std::max(chunk_step, logits / vocabulary / chunk_step * chunk_step);
}

// Chunks of about one size: what is left for the last one would else be too little for a GPU.
int64_t chunk_rows(int64_t rows, int64_t most) {
  const int64_t chunks = (rows + most - 1) / most;
  return (rows + chunks * chunk_step - 1) / (chunks * chunk_step) * chunk_step;
}

// Turns the gradient of a chunk's logits into those of what made them.
void chunk_backward(Pass& pass, const Tensor& hidden, const Packed& weight, const Tensor& weight_tensor,
                    const Tensor& bias, Tensor::GradientTarget of_hidden, Matrix logits_gradient) {
  Device& device = pass.device;
  if (bias) {
    device.kernels.activation_backward(device.context, Activation::none, {}, logits_gradient, {},
                                       bias.gradient().data);
  }
  weight.multiply(device, logits_gradient, of_hidden.matrix, {.accumulate = of_hidden.accumulate});
  multiply(device, pass.precision, ConstMatrix(logits_gradient).transposed(), hidden,
           weight_tensor.gradient(), {.accumulate = true});
}

Matrix rows_of(Matrix m, int64_t begin, int64_t count) {
  return {m.data + begin * m.stride, count, m.columns, m.stride};
}

}  // namespace

Tensor cross_entropy(Pass& pass, const Tensor& hidden, const Tensor& weight, const Tensor& bias,
                     const Array<int32_t>& targets, Smoothing smoothing, int64_t logits_per_chunk) {
  CHECK(targets.size() == hidden.rows(), "{} targets for {} rows", targets.size(), hidden.rows());
  Device& device = pass.device;
  const bool backward = pass.tape != nullptr;
  const int64_t rows = hidden.rows(), vocabulary = weight.rows();
  const int64_t logits = logits_per_chunk > 0 ? logits_per_chunk : device.kernels.logits_per_chunk;
  const Tensor losses(device.pool, rows, 2);
  if (rows == 0) return losses;
  const int64_t most = most_chunk_rows(vocabulary, logits), chunk = std::min(rows, chunk_rows(rows, most));
  // Of the most rows, so that no batch with fewer rows needs more memory.
  const Tensor buffer(device.pool, std::min(rows, most), vocabulary);
  const ConstMatrix words = backward ? operand(device, pass.precision, weight) : ConstMatrix{};
  const auto packed = [&](ConstMatrix b) { return backward ? Packed(device, pass.precision, b) : Packed(); };
  const Packed transposed = packed(words.transposed()), straight = packed(words);
  const Tensor::GradientTarget of_hidden = backward ? hidden.gradient_target() : Tensor::GradientTarget{};
  // Products read the gradient of logits, which is then in bf16 alone.
  const bool rounds = backward && rounds_once(device, pass.precision);
  const Array<uint16_t> rounded(device.pool, rounds ? buffer.rows() * vocabulary : 0);
  if (rounds) operand(device, pass.precision, hidden);

  for (int64_t begin = 0; begin < rows; begin += chunk) {
    const int64_t count = std::min(chunk, rows - begin);
    const Matrix scores = rows_of(buffer.matrix(), 0, count);
    Matrix becoming_gradient = scores;
    if (rounds) becoming_gradient.rounded = rounded.data();
    const Tensor h = hidden.row_range(begin, count);
    const Epilogue epilogue = {.bias = bias ? bias.data() : nullptr};
    if (backward) {
      transposed.multiply(device, h, scores, epilogue);
    } else {
      multiply_by_weight(device, h, weight, {.transposed = true, .keep = true}, scores, epilogue);
    }
    device.kernels.cross_entropy(device.context, becoming_gradient, targets.data() + begin, smoothing,
                                 backward, losses.data() + 2 * begin);
    if (rounds) becoming_gradient.data = nullptr;
    if (backward) {
      chunk_backward(pass, h, straight, weight, bias,
                     {rows_of(of_hidden.matrix, begin, count), of_hidden.accumulate}, becoming_gradient);
    }
  }
  // The gradients are there already. An empty entry tells the tape when those of weight and bias are complete: once
  // all that was recorded after it has run.
  if (backward) pass.tape->record({&weight, &bias}, [] {});
  return losses;
}

Tensor logits(Pass& pass, const Tensor& hidden, const Tensor& weight, const Tensor& bias) {
  CHECK(pass.tape == nullptr, "logits are for decoding: training uses cross_entropy");
  const Tensor y(pass.device.pool, hidden.rows(), weight.rows());
  multiply_by_weight(pass.device, hidden, weight, {.transposed = true, .keep = true}, y.matrix(),
                     {.bias = bias ? bias.data() : nullptr});
  return y;
}

}  // namespace dragoman::internal
