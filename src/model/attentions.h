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

// The number of a layer's cross-attention among the decoder's attentions, counted from 0; layers from 1.
int64_t cross_attention_number(const ModelConfig& config, int64_t layer);

// Cross-attention of a single layer.
Tensor cross_attention(Transformer& model, const Tokens& source, const Tokens& target, int64_t layer);

}  // namespace dragoman::internal
