// The steps of `dragoman explain`: one forward pass of a model over a pair of sentences, and the gradient of a weight.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/transformer.h"
#include "report/explain/explanation.h"

namespace dragoman::internal {

// What the encoder and the decoder read, and what the decoder should predict after each token that it reads. A language
// model has no source.
struct ExplainedPair {
  std::vector<int32_t> source, read, expected;
  size_t given = 0;  // the first of `expected`, which are forced and count in no loss
  std::function<std::string(int32_t)> source_piece, target_piece;
};

struct ExplainOptions {
  std::string step = "all";
  int64_t layer = 1, head = 1;  // counted from 1
  std::string weight;           // a parameter; empty: one of the layer
  Smoothing smoothing;
};

// In their order: tokens, embedding, positions, ...
std::vector<std::string> step_names();

// Throws OptionError where a step, a layer, a head or a parameter does not exist.
Explanation explain(Transformer& model, const ExplainedPair& pair, const ExplainOptions& options);

}  // namespace dragoman::internal
