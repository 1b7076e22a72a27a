// The steps of `dragoman explain`: one forward pass of a model over a pair of sentences, and the gradient of a weight.
#pragma once

#include "model/transformer.h"
#include "report/explanation.h"

namespace dragoman::internal {

// In their order: tokens, embedding, positions, attention, norm, feed-forward, output, loss, gradient.
std::vector<std::string> step_names();

// Throws OptionError where a step, a layer, a head or a parameter does not exist.
Explanation explain(Transformer& model, const ExplainedPair& pair, const ExplainOptions& options);

}  // namespace dragoman::internal
