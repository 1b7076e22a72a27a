#include "model/partial_generator.h"

namespace dragoman::internal {

PartialGenerator partial_generator(const Transformer& model, std::span<const int32_t> words) {
  const auto& [weight, bias] = model.generator;
  Device& device = model.device;
  PartialGenerator part = {PackedRows(device, weight, words), {}};
  if (!bias) return part;
  const auto count = static_cast<int64_t>(words.size());
  const Array<int32_t> wanted(device.pool, words);
  part.bias = Tensor(device.pool, 1, count);
  device.kernels.gather_rows(device.context, {bias.data(), bias.columns(), 1, 1}, wanted.data(),
                             {part.bias.data(), count, 1, 1});
  return part;
}

void next_word_logits(const Transformer& model, const PartialGenerator& part, const Tensor& decoded,
                      Matrix logits) {
  part.weight.multiply(model.device, decoded, logits, {.bias = part.bias ? part.bias.data() : nullptr});
}

}  // namespace dragoman::internal
