// What a Network's caller gives, checked and on the model's device. Every function throws a UsageError that says what
// does not fit the model.
#pragma once

#include <span>

#include "dragoman/network.h"
#include "model/transformer.h"

namespace dragoman::internal {

void check_id(const ModelConfig& config, Stack stack, int64_t id);

// Sentences end to end.
Tokens tokens_of(Transformer& model, Stack stack, std::span<const Ids> sentences);

// What the decoder reads of pairs of sentences, and what it should predict.
struct LossInputs {
  Tokens source, read;
  Array<int32_t> expected;
};
LossInputs loss_inputs(Transformer& model, std::span<const IdPair> pairs);

// Rows of d_model columns. `name`: of the argument, for errors.
Tensor rows_of(Transformer& model, const dragoman::Matrix& x, const char* name);
// The tokens that such rows stand for: one sentence.
Tokens tokens_of_rows(Transformer& model, const Tensor& x);

void check_stack(const Transformer& model, Stack stack);
// The layer as an index.
size_t checked_layer(const Transformer& model, Stack stack, int64_t layer);

// The parameter of this name, which has this shape.
const Parameter& parameter_for(const Transformer& model, const NamedMatrix& value);

}  // namespace dragoman::internal
