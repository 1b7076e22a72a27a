// What a model attends to: the probabilities of its attentions, for whoever wants to look at them.
#pragma once

#include <vector>

#include "model/transformer.h"

namespace dragoman {

// A layer each, as attention_weights gives them: a row for each token that attends, its heads side by side, each as
// wide as the longest sentence that is attended to.
struct Attentions {
  std::vector<Tensor> encoder, decoder, cross;
};

// `target` is what the decoder reads. The row of its token number t is what the model looked at to say token t.
Attentions attentions(Transformer& model, const Tokens& source, const Tokens& target);

// Cross-attention of one layer alone, the first of which is 1.
Tensor cross_attention(Transformer& model, const Tokens& source, const Tokens& target, int64_t layer);

}  // namespace dragoman
