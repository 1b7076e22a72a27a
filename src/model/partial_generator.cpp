#include "model/partial_generator.h"

#include <algorithm>

namespace dragoman {

PartialGenerator partial_generator(const Transformer& model, std::span<const int32_t> words) {
  const auto& [weight, bias] = model.generator;
  PartialGenerator part = {PackedRows(model.device, weight, words), {}};
  if (!bias) return part;
  part.bias = Tensor(model.device.pool, 1, static_cast<int64_t>(words.size()));
  std::ranges::transform(words, part.bias.data(), [&](int32_t word) { return bias.data()[word]; });
  return part;
}

void next_word_logits(const Transformer& model, const PartialGenerator& part, const Tensor& decoded,
                      Matrix logits) {
  part.weight.multiply(model.device, decoded, logits, {.bias = part.bias ? part.bias.data() : nullptr});
}

}  // namespace dragoman
