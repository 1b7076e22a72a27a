#include "model/generator_part.h"

#include <algorithm>

namespace dragoman {

GeneratorPart generator_part(const Transformer& model, std::span<const int32_t> words) {
  Pool& pool = model.device.pool;
  const auto& [weight, bias] = model.generator;
  const auto count = static_cast<int64_t>(words.size());
  const Tensor rows(pool, count, weight.columns()), biases(pool, 1, bias ? count : 0);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t word = words[static_cast<size_t>(i)];
    std::copy_n(weight.data() + word * weight.columns(), weight.columns(), rows.data() + i * rows.columns());
    if (bias) biases.data()[i] = bias.data()[word];
  }
  return {Packed(model.device, ConstMatrix(rows).transposed()), bias ? biases : Tensor()};
}

void next_word_logits(const Transformer& model, const GeneratorPart& part, const Tensor& decoded,
                      Matrix logits) {
  model.device.kernels.product(model.device.context, decoded, part.weight, logits,
                               {.bias = part.bias ? part.bias.data() : nullptr});
}

}  // namespace dragoman
