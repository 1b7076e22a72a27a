// The generator for a part of the vocabulary, packed once for many steps, on devices where PackedRows are possible. A
// word's logit has the same bits as among all words.
#pragma once

#include <cstdint>
#include <span>

#include "model/transformer.h"
#include "ops/products.h"

namespace dragoman::internal {

struct PartialGenerator {
  PackedRows weight;  // words × d_model
  Tensor bias;        // 1 × words
};

PartialGenerator partial_generator(const Transformer&, std::span<const int32_t> words);

// The logits of these words after each token of `decoded`.
void next_word_logits(const Transformer&, const PartialGenerator&, const Tensor& decoded, Matrix logits);

}  // namespace dragoman::internal
