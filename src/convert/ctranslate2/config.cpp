#include "convert/ctranslate2/config.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "convert/ctranslate2/names.h"

namespace dragoman::internal {
namespace {

using namespace ctranslate2;

int64_t layers_of(const CTranslate2Model& model, const char* stack) {
  int64_t layers = 0;
  while (model.has(fmt::format("{}/layer_{}/ffn/linear_0/weight", stack, layers))) ++layers;
  return layers;
}

int64_t d_ff_of(const CTranslate2Model& model, const char* stack) {
  return model.matrix(fmt::format("{}/layer_0/ffn/linear_0/weight", stack)).shape[0];
}

// An attribute that must be the same in both stacks.
double common(const CTranslate2Model& model, const std::string& name, double otherwise) {
  const double encoder = model.scalar("encoder/" + name, otherwise),
               decoder = model.scalar("decoder/" + name, otherwise);
  if (encoder != decoder)
    throw Error("{}: {} is {} in the encoder and {} in the decoder, which is not supported", model.path, name,
                encoder, decoder);
  return encoder;
}

int64_t heads_of(const CTranslate2Model& model, const char* stack) {
  const std::string name = fmt::format("{}/num_heads", stack);
  const double heads = model.scalar(name, static_cast<double>(model.default_heads));
  if (heads < 1 || heads > INT16_MAX) throw Error("{} is damaged: {} is {}", model.path, name, heads);
  return static_cast<int64_t>(heads);
}

Activation activation_of(const CTranslate2Model& model) {
  const double code = common(model, "activation", 0);
  if (!(code >= 0 && code < static_cast<double>(std::size(ctranslate2_activations))))
    throw Error("{}: the activation function {} is not supported", model.path, code);
  return ctranslate2_activations[static_cast<size_t>(code)];
}

// Norms without beta are RMSNorm, and then all are.
NormKind norm_kind_of(const CTranslate2Model& model) {
  return model.has("encoder/layer_0/ffn/layer_norm/beta") ? NormKind::layer : NormKind::rms;
}

// The factor of one stack's embeddings: a flag, or the factor itself.
double scale_of(const CTranslate2Model& model, const std::string& stack, double root) {
  for (const char* name :
       {"/scale_embeddings", "/embeddings_0/multiply_by_sqrt_depth", "/embeddings/multiply_by_sqrt_depth"}) {
    const auto found = model.tensors.find(stack + name);
    if (found == model.tensors.end()) continue;
    const double value = model.scalar(stack + name, 0);
    if (found->second.type == ElementType::i8) return value != 0 ? root : 1;
    if (!(value > 0)) throw Error("{}: {} is {}, which is not supported", model.path, stack + name, value);
    return value;
  }
  return root;
}

double embedding_scale(const CTranslate2Model& model, int64_t width) {
  const double root = std::sqrt(static_cast<double>(width));
  const double encoder = scale_of(model, "encoder", root), decoder = scale_of(model, "decoder", root);
  if (encoder != decoder)
    throw Error("{}: scale_embeddings is {} in the encoder and {} in the decoder, which is not supported",
                model.path, encoder, decoder);
  return std::abs(encoder - root) < 1e-6 * root ? 0 : encoder;
}

Tied tied_of(const CTranslate2Model& model) {
  const ForeignTensor& target = model.matrix(decoder_embedding);
  if (!same(target, model.matrix(generator))) return Tied::none;
  return same(target, model.matrix(encoder_embedding)) ? Tied::all : Tied::output;
}

// --- Positions --------------------------------------------------------------------------------------

bool is_table_of(const CTranslate2Model& model, Positions kind, int64_t first) {
  for (const std::string& name : {encoder_positions, decoder_positions}) {
    const std::vector<float> table = to_floats(model.matrix(name));
    const int64_t width = model.matrix(name).shape[1];
    for (int64_t i = 0; i < std::ssize(table); ++i) {
      const double expected = position_value(kind, first + i / width, i % width, width);
      if (!(std::abs(static_cast<double>(table[static_cast<size_t>(i)]) - expected) <= 1e-5)) return false;
    }
  }
  return true;
}

// Of the first layer of both stacks, which must agree.
bool both_have(const CTranslate2Model& model, const std::string& name) {
  const bool encoder = model.has("encoder/layer_0" + name), decoder = model.has("decoder/layer_0" + name);
  if (encoder != decoder)
    throw Error("{} has {} in only one of encoder and decoder, which is not supported", model.path,
                name.substr(1));
  return encoder;
}

// Attention that knows distances stands for positions of embeddings.
bool set_distances(const CTranslate2Model& model, ModelConfig& config) {
  if (both_have(model, t5_bias)) {
    config.positions = Positions::t5;
    config.position_buckets = model.matrix("encoder/layer_0" + t5_bias).shape[0];
    config.max_distance = static_cast<int64_t>(common(model, "layer_0" + t5_distance, 128));
    return true;
  }
  if (!both_have(model, distance_keys)) return false;
  config.positions = Positions::none;
  config.relative_distance = (model.matrix("encoder/layer_0" + distance_keys).shape[0] - 1) / 2;
  return true;
}

// A stored table that follows a formula need not be stored, and then has no end.
void set_positions(const CTranslate2Model& model, ModelConfig& config) {
  if (set_distances(model, config)) return;
  if (model.has(encoder_positions) != model.has(decoder_positions))
    throw Error("{} has position encodings for only one of encoder and decoder, which is not supported",
                model.path);
  config.positions = Positions::tensor2tensor;
  config.position_offset = 1;
  if (!model.has(encoder_positions)) return;
  for (const std::string& name : {encoder_positions, decoder_positions}) {
    const ForeignTensor& table = model.matrix(name);
    if (table.shape[1] != config.d_model)
      throw Error("{}: {} is {}, but the embeddings have {} columns", model.path, name, describe(table),
                  config.d_model);
  }
  for (const Positions kind : {Positions::halves, Positions::sinusoidal, Positions::tensor2tensor}) {
    for (const int64_t first : {0, 1, 2}) {
      if (!is_table_of(model, kind, first)) continue;
      config.positions = kind;
      config.position_offset = first;
      return;
    }
  }
  config.positions = Positions::stored;
  config.position_offset = 0;
  config.max_positions =
      std::min(model.matrix(encoder_positions).shape[0], model.matrix(decoder_positions).shape[0]);
}

}  // namespace

ModelConfig ctranslate2_config(const CTranslate2Model& model) {
  const ForeignTensor &source = model.matrix(encoder_embedding), &target = model.matrix(decoder_embedding);
  ModelConfig config = {.encoder_layers = layers_of(model, "encoder"),
                        .decoder_layers = layers_of(model, "decoder"),
                        .d_model = source.shape[1],
                        .heads = heads_of(model, "encoder"),
                        .d_ff = d_ff_of(model, "encoder"),
                        .decoder_heads = heads_of(model, "decoder"),
                        .decoder_d_ff = d_ff_of(model, "decoder"),
                        .norm = common(model, "pre_norm", 1) != 0 ? NormOrder::pre : NormOrder::post,
                        .norm_kind = norm_kind_of(model),
                        .activation = activation_of(model),
                        .gated = model.has("encoder/layer_0/ffn/linear_0_noact/weight"),
                        .embedding_scale = embedding_scale(model, source.shape[1]),
                        .embedding_norm = model.has("encoder/layernorm_embedding/gamma"),
                        .zero_start = model.scalar("decoder/start_from_zero_embedding", 0) != 0,
                        .tied = tied_of(model),
                        .source_vocabulary = source.shape[0],
                        .target_vocabulary = target.shape[0]};
  // Queries, keys and values stand one below the other.
  const int64_t width = model.matrix("encoder/layer_0/self_attention/linear_0/weight").shape[0] / 3;
  if (width != config.d_model) config.head_width = width / config.heads;
  config.tied_bias = config.tied != Tied::none && model.has("decoder/projection/bias");
  config.norm_eps = model.settings.norm_eps.value_or(config.norm_kind == NormKind::rms ? 1e-6 : 1e-5);
  set_positions(model, config);
  try {
    validate(config);
  } catch (const OptionError& error) {
    throw Error("{} has invalid dimensions: {}", model.path, error.what());
  }
  return config;
}

}  // namespace dragoman::internal
