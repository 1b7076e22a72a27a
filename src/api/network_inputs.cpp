#include "api/network_inputs.h"

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "base/quotes.h"

namespace dragoman::internal {
namespace {

const char* name_of(Stack stack) { return stack == Stack::encoder ? "encoder" : "decoder"; }
const char* side_of(Stack stack) { return stack == Stack::encoder ? "source" : "target"; }

int64_t vocabulary_of(const ModelConfig& config, Stack stack) {
  return stack == Stack::encoder ? config.source_vocabulary : config.target_vocabulary;
}

void check_shape(const Parameter& parameter, const dragoman::Matrix& values) {
  const auto rows = static_cast<size_t>(parameter.value.rows()),
             columns = static_cast<size_t>(parameter.value.columns());
  if (values.rows != rows || values.columns != columns || values.values.size() != rows * columns)
    throw UsageError("{} is {} × {}, and cannot be set to {} × {} values", parameter.name, rows, columns,
                     values.rows, values.columns);
}

}  // namespace

void check_id(const ModelConfig& config, Stack stack, int64_t id) {
  const int64_t vocabulary = vocabulary_of(config, stack);
  if (id < 0 || id >= vocabulary)
    throw UsageError("the {} has the id {}, but its vocabulary has ids from 0 to {}", side_of(stack), id,
                     vocabulary - 1);
}

void check_stack(const Transformer& model, Stack stack) {
  if (stack == Stack::encoder && !has_encoder(model.config))
    throw UsageError("a language model has no encoder: call the pieces of its decoder");
}

size_t checked_layer(const Transformer& model, Stack stack, int64_t layer) {
  check_stack(model, stack);
  const size_t layers = stack == Stack::encoder ? model.encoder.size() : model.decoder.size();
  if (layer < 0 || layer >= static_cast<int64_t>(layers))
    throw UsageError("the {} has no layer {}: its {}, counted from 0", name_of(stack), layer,
                     layers == 1 ? "only one is layer 0" : fmt::format("last one is layer {}", layers - 1));
  return static_cast<size_t>(layer);
}

Tokens tokens_of(Transformer& model, Stack stack, std::span<const Ids> sentences) {
  check_stack(model, stack);
  std::vector<int32_t> ids, lengths;
  std::vector<uint64_t> pairs;
  for (const Ids& sentence : sentences) {
    if (sentence.empty()) throw UsageError("the {} is empty: it must have at least one id", side_of(stack));
    for (const int64_t id : sentence) {
      check_id(model.config, stack, id);
      ids.push_back(static_cast<int32_t>(id));
    }
    lengths.push_back(static_cast<int32_t>(sentence.size()));
    pairs.push_back(pairs.size());
  }
  return pack_tokens(model.device, ids, lengths, pairs);
}

LossInputs loss_inputs(Transformer& model, std::span<const IdPair> pairs) {
  if (pairs.empty()) throw UsageError("the loss needs at least one pair of sentences");
  std::vector<Ids> sources, read;
  std::vector<int32_t> expected;
  for (const auto& [source, target] : pairs) {
    if (target.size() < 2)
      throw UsageError("the target must have at least two ids, the start symbol and one to predict, not {}",
                       target.size());
    if (has_encoder(model.config)) {
      sources.push_back(source);
    } else if (!source.empty()) {
      throw UsageError("a language model reads no source: leave it empty");
    }
    read.emplace_back(target.begin(), target.end() - 1);
    check_id(model.config, Stack::decoder, target.back());
    expected.insert(expected.end(), target.begin() + 1, target.end());
  }
  return {.source = has_encoder(model.config) ? tokens_of(model, Stack::encoder, sources) : Tokens(),
          .read = tokens_of(model, Stack::decoder, read),
          .expected = Array<int32_t>(model.device.pool, expected)};
}

Tensor rows_of(Transformer& model, const dragoman::Matrix& x, const char* name) {
  const int64_t d_model = model.config.d_model;
  if (x.rows == 0 || x.columns != static_cast<size_t>(d_model) || x.values.size() % x.columns != 0 ||
      x.values.size() / x.columns != x.rows)
    throw UsageError("{} must have a row of {} numbers, the model's d_model, for each token, but is {} × {}",
                     name, d_model, x.rows, x.columns);
  const Tensor rows(model.device.pool, static_cast<int64_t>(x.rows), d_model);
  model.device.memory.upload(rows.data(), x.values.data(), x.values.size() * sizeof(float));
  return rows;
}

Tokens tokens_of_rows(Transformer& model, const Tensor& x) {
  const std::vector<int32_t> ids(static_cast<size_t>(x.rows()));
  const auto length = static_cast<int32_t>(x.rows());
  constexpr uint64_t pair = 0;
  return pack_tokens(model.device, ids, {&length, 1}, {&pair, 1});
}

const Parameter& parameter_for(const Transformer& model, const NamedMatrix& value) {
  std::vector<std::string> names;
  for (const Parameter& parameter : model.parameters.list()) {
    if (parameter.name == value.name) {
      check_shape(parameter, value.values);
      return parameter;
    }
    names.push_back(parameter.name);
  }
  throw UsageError("the model has no parameter {}{}", in_quotes(value.name), suggestion(value.name, names));
}

}  // namespace dragoman::internal
