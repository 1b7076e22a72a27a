// The attention weights of a model, for inspection.
#pragma once

#include <vector>

#include "model/transformer.h"

namespace dragoman::internal {

// A tensor for each layer, as attention_weights gives it: a row for each query, its heads side by side, each as wide as
// the longest sentence of keys.
struct Attentions {
  std::vector<Tensor> encoder, decoder, cross;  // decoder: none with another unit instead
};

// `target` is the decoder's input. Row t of a sentence is what the model attended to when it predicted token t.
Attentions attentions(Transformer& model, const Tokens& source, const Tokens& target);

// Cross-attention of a single layer, counted from 1.
Tensor cross_attention(Transformer& model, const Tokens& source, const Tokens& target, int64_t layer);

}  // namespace dragoman::internal
