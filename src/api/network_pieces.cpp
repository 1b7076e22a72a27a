#include "api/network_pieces.h"

#include "api/network_inputs.h"
#include "base/error.h"

namespace dragoman::internal {
namespace {

dragoman::Matrix on_host(const Tensor& tensor) {
  const HostView<const float> values = tensor.values();
  return {.rows = static_cast<size_t>(tensor.rows()),
          .columns = static_cast<size_t>(tensor.columns()),
          .values = {values.begin(), values.end()}};
}

// In the mean over the tokens that are predicted. With a tape, the gradients are of the sum.
double mean_loss(Pass& pass, Transformer& model, const LossInputs& inputs, double label_smoothing) {
  if (!(label_smoothing >= 0 && label_smoothing < 1))
    throw UsageError("the label smoothing is {}, but must be at least 0 and below 1", label_smoothing);
  const Tensor losses = loss(pass, model, inputs.source, inputs.read, inputs.expected,
                             {static_cast<float>(label_smoothing), SmoothingOver::all});
  const HostView<const float> values = losses.values();
  double sum = 0;
  for (size_t i = 0; i < values.size(); i += 2) sum += double{values[i]};
  return sum / static_cast<double>(losses.rows());
}

// A parameter's part of a flat buffer, times a factor.
NamedMatrix named_values(const Parameter& parameter, std::span<const float> flat, float factor = 1) {
  NamedMatrix named = {parameter.name,
                       {.rows = static_cast<size_t>(parameter.value.rows()),
                        .columns = static_cast<size_t>(parameter.value.columns())}};
  const auto own = flat.subspan(static_cast<size_t>(parameter.offset), static_cast<size_t>(parameter.size()));
  for (const float value : own) named.values.values.push_back(factor * value);
  return named;
}

}  // namespace

dragoman::Matrix encode(Pass& pass, Transformer& model, const Ids& source) {
  return on_host(encode(pass, model, tokens_of(model, Stack::encoder, {&source, 1})));
}

dragoman::Matrix decode(Pass& pass, Transformer& model, const Ids& target, const dragoman::Matrix& memory) {
  const Tokens tokens = tokens_of(model, Stack::decoder, {&target, 1});
  if (has_encoder(model.config)) {
    const Tensor encoded = rows_of(model, memory, "the memory");
    const Tokens source = tokens_of_rows(model, encoded);
    return on_host(decode(pass, model, tokens, EncodedSource{.encoded = encoded, .spans = &source.spans}));
  }
  if (memory.rows > 0) throw UsageError("a language model's decoder has no memory: leave it out");
  return on_host(decode(pass, model, tokens, EncodedSource()));
}

dragoman::Matrix logits(Pass& pass, Transformer& model, const dragoman::Matrix& states) {
  return on_host(next_word_logits(pass, model, rows_of(model, states, "the decoder's output")));
}

dragoman::Matrix embed(Pass& pass, Transformer& model, Stack stack, const Ids& ids) {
  return on_host(embed_tokens(pass, model, stack, tokens_of(model, stack, {&ids, 1})));
}

dragoman::Matrix positions(Transformer& model, Stack stack, int64_t count) {
  check_stack(model, stack);
  if (!is_added(model.config.positions))
    throw UsageError("this model adds no positions to its embeddings: its self-attention has them, if any");
  constexpr int64_t most = 1'000'000;
  if (count < 0 || count > most) throw UsageError("there are no {} positions: ask for 0 to {}", count, most);
  Embedding& embedding = stack == Stack::encoder ? model.source_embedding : model.target_embedding;
  return on_host(embedding.positions.rows(model.device.pool, count).row_range(0, count));
}

dragoman::Matrix self_attention(Pass& pass, Transformer& model, Stack stack, int64_t layer,
                                const dragoman::Matrix& x) {
  const size_t index = checked_layer(model, stack, layer);
  const Tensor rows = rows_of(model, x, "x");
  return on_host(self_attention(pass, model, stack, index, rows, tokens_of_rows(model, rows)));
}

dragoman::Matrix cross_attention(Pass& pass, Transformer& model, int64_t layer, const dragoman::Matrix& x,
                                 const dragoman::Matrix& memory) {
  check_stack(model, Stack::encoder);
  const size_t index = checked_layer(model, Stack::decoder, layer);
  const Tensor rows = rows_of(model, x, "x"), encoded = rows_of(model, memory, "the memory");
  const Tokens source = tokens_of_rows(model, encoded);
  return on_host(cross_attention(pass, model, index, rows, tokens_of_rows(model, rows),
                                 {.encoded = encoded, .spans = &source.spans}));
}

dragoman::Matrix feed_forward(Pass& pass, Transformer& model, Stack stack, int64_t layer,
                              const dragoman::Matrix& x) {
  const size_t index = checked_layer(model, stack, layer);
  const Tensor rows = rows_of(model, x, "x");
  return on_host(feed_forward(pass, model, stack, index, rows, tokens_of_rows(model, rows)));
}

double loss(Pass& pass, Transformer& model, const std::vector<IdPair>& pairs, double label_smoothing) {
  return mean_loss(pass, model, loss_inputs(model, pairs), label_smoothing);
}

Gradients gradients(Pass& pass, Transformer& model, const std::vector<IdPair>& pairs,
                    double label_smoothing) {
  const LossInputs inputs = loss_inputs(model, pairs);
  Tape tape;
  pass.tape = &tape;
  model.parameters.clear_gradients();
  Gradients gradients = {.loss = mean_loss(pass, model, inputs, label_smoothing), .values = {}};
  tape.backward();
  const HostView<const float> sums(model.device.memory, model.parameters.gradients());
  const float share = 1 / static_cast<float>(inputs.expected.size());
  for (const Parameter& parameter : model.parameters.list()) {
    if (!parameter.constant) gradients.values.push_back(named_values(parameter, sums.span(), share));
  }
  return gradients;
}

std::vector<NamedMatrix> parameters(const Transformer& model) {
  std::vector<NamedMatrix> all;
  const HostView<const float> weights(model.device.memory, model.parameters.weights());
  for (const Parameter& parameter : model.parameters.list())
    all.push_back(named_values(parameter, weights.span()));
  return all;
}

void set_parameters(Transformer& model, const std::vector<NamedMatrix>& values) {
  std::vector<const Parameter*> found;
  for (const NamedMatrix& value : values) found.push_back(&parameter_for(model, value));
  for (size_t i = 0; i < values.size(); ++i) {
    const std::vector<float>& from = values[i].values.values;
    model.device.memory.upload(found[i]->value.data(), from.data(), from.size() * sizeof(float));
  }
  model.parameters.changed();
}

}  // namespace dragoman::internal
