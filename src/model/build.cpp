// The Transformer's parameters: their names, sizes and initial values.
#include <cmath>
#include <string>

#include "base/error.h"
#include "model/transformer.h"

namespace dragoman::internal {
namespace {

SelfAttention make_self_attention(const LayerMaker& make, const std::string& name, const ModelConfig& config,
                                  int64_t heads) {
  const int64_t d = config.d_model, width = attention_width(config, heads);
  SelfAttention layer = {.norm = make.norm(name + ".norm", d),
                         .qkv = make.linear(name + ".qkv", d, width, {.count = 3, .groups_out = heads}),
                         .output = make.linear(name + ".output", width, d, {.groups_in = heads}),
                         .heads = heads};
  if (config.relative_distance > 0) {
    layer.distance_keys = make.distances(name + ".distance_keys", config.relative_distance, width / heads);
    layer.distance_values =
        make.distances(name + ".distance_values", config.relative_distance, width / heads);
  }
  return layer;
}

CrossAttention make_cross_attention(const LayerMaker& make, const std::string& name,
                                    const ModelConfig& config) {
  const int64_t d = config.d_model, heads = decoder_heads(config), width = attention_width(config, heads);
  return {.norm = make.norm(name + ".norm", d),
          .query = make.linear(name + ".query", d, width, {.groups_out = heads}),
          .key_value = make.linear(name + ".key_value", d, width, {.count = 2, .groups_out = heads}),
          .output = make.linear(name + ".output", width, d, {.groups_in = heads}),
          .heads = heads};
}

Ssru make_ssru(const LayerMaker& make, const std::string& name, const ModelConfig& config) {
  const int64_t d = config.d_model;
  return {.norm = make.norm(name + ".norm", d),
          .gate_and_input = config.ssru_input_bias
                                ? make.linear(name + ".gate_and_input", d, d, {.count = 2})
                                : make.linear_from_zero_bias(name + ".gate_and_input", d, d, {.count = 2}),
          .learns_input_bias = config.ssru_input_bias};
}

// Hidden units have as little to do with one another as heads, and are in groups as wide as heads usually are.
FeedForward make_feed_forward(const LayerMaker& make, const std::string& name, int64_t d, int64_t d_ff,
                              bool gated) {
  constexpr int64_t width = 64;
  const int64_t groups = d_ff % width == 0 ? d_ff / width : 1;
  return {.norm = make.norm(name + ".norm", d),
          .inner = make.linear(name + ".inner", d, d_ff, {.groups_out = groups}),
          .outer = make.linear(name + ".outer", d_ff, d, {.groups_in = groups}),
          .value = gated ? make.linear(name + ".value", d, d_ff, {.groups_out = groups}) : Linear()};
}

Initial embedding_initial(const ModelConfig& config, int64_t vocabulary) {
  const double d = static_cast<double>(config.d_model);
  switch (config.embedding_initialiser) {
    case EmbeddingInitialiser::normal:
      return {Initial::Kind::normal, static_cast<float>(1 / std::sqrt(d))};
    case EmbeddingInitialiser::unit:
      return {Initial::Kind::normal, 1};
    case EmbeddingInitialiser::xavier:
      break;
  }
  return {Initial::Kind::uniform, static_cast<float>(std::sqrt(6 / (d + static_cast<double>(vocabulary))))};
}

void make_embeddings(Transformer& model, const LayerMaker& make) {
  const ModelConfig& config = model.config;
  const auto table = [&](const char* name, int64_t vocabulary) {
    return model.parameters.declare(name, vocabulary, config.d_model, embedding_initial(config, vocabulary),
                                    Role::table);
  };
  Tensor &source = model.source_embedding.tokens, &target = model.target_embedding.tokens;
  if (!has_encoder(config)) {
    target = table("target_embedding.weight", config.target_vocabulary);
  } else if (has_shared_embedding(config)) {
    source = target = table("shared_embedding.weight", config.source_vocabulary);
  } else {
    source = table("source_embedding.weight", config.source_vocabulary);
    target = table("target_embedding.weight", config.target_vocabulary);
  }
  if (has_own_generator(config)) {
    model.generator.weight =
        model.parameters.declare("generator.weight", config.target_vocabulary, config.d_model,
                                 make.matrix(config.d_model, config.target_vocabulary), Role::table);
  } else {
    model.generator.weight = target;
  }
  if (has_own_generator(config) || config.tied_bias) {
    model.generator.bias =
        model.parameters.declare("generator.bias", 1, config.target_vocabulary, make.bias(config.d_model));
  }
}

PositionTable make_positions(Transformer& model, const char* learned, const char* stored) {
  const ModelConfig& c = model.config;
  const Initial initial = embedding_initial(c, c.max_positions);
  switch (c.positions) {
    case Positions::learned:
      return {c.positions, model.parameters.declare(learned, c.max_positions, c.d_model, initial)};
    case Positions::stored:
      return {c.positions, model.parameters.declare_constant(stored, c.max_positions, c.d_model, initial)};
    case Positions::rotary:
    case Positions::alibi:
    case Positions::t5:
    case Positions::none:
      return {};
    default:
      return {c.positions, c.d_model, c.position_offset};
  }
}

// `table`: T5's, which a stack's layers share.
AttentionPositions make_attention_positions(Transformer& model, const char* table, int64_t heads,
                                            bool both_directions) {
  const ModelConfig& c = model.config;
  switch (c.positions) {
    case Positions::rotary:
      return {.angles = {c.positions, attention_width(c, heads) / heads, c.position_offset, c.rotary_base}};
    case Positions::alibi:
      return {.bias = DistanceBias::alibi(heads)};
    case Positions::t5:
      return {.bias = DistanceBias::t5(model.parameters.declare(table, c.position_buckets, heads, {}),
                                       both_directions, c.max_distance)};
    default:
      return {};
  }
}

void make_encoder(Transformer& model, const LayerMaker& make) {
  const ModelConfig& config = model.config;
  model.encoder_positions = make_attention_positions(model, "encoder.position_bias", config.heads, true);
  for (int64_t i = 0; i < config.encoder_layers; ++i) {
    const std::string name = "encoder.layers." + std::to_string(i);
    model.encoder.push_back(
        {make_self_attention(make, name + ".self_attention", config, config.heads),
         make_feed_forward(make, name + ".feed_forward", config.d_model, config.d_ff, config.gated)});
  }
  if (config.norm == NormOrder::pre) model.encoder_norm = make.norm("encoder.norm", config.d_model);
}

void make_decoder(Transformer& model, const LayerMaker& make) {
  const ModelConfig& config = model.config;
  const int64_t d = config.d_model, heads = decoder_heads(config), d_ff = decoder_d_ff(config);
  if (!has_ssru(config))
    model.decoder_positions = make_attention_positions(model, "decoder.position_bias", heads, false);
  for (int64_t i = 0; i < config.decoder_layers; ++i) {
    const std::string name = "decoder.layers." + std::to_string(i);
    DecoderLayer layer;
    if (has_ssru(config)) {
      layer.ssru = make_ssru(make, name + ".ssru", config);
    } else {
      layer.self_attention = make_self_attention(make, name + ".self_attention", config, heads);
    }
    if (has_encoder(config))
      layer.cross_attention = make_cross_attention(make, name + ".cross_attention", config);
    layer.feed_forward = make_feed_forward(make, name + ".feed_forward", d, d_ff, config.gated);
    model.decoder.push_back(layer);
  }
  if (config.norm == NormOrder::pre) model.decoder_norm = make.norm("decoder.norm", config.d_model);
}

}  // namespace

Transformer::Transformer(const ModelConfig& config_, Device& device_, Buffers buffers)
    : config(config_), device(device_), parameters(device_.pool) {
  validate(config);
  const LayerMaker make(parameters, config.initialiser, config.norm_kind);
  make_embeddings(*this, make);
  if (has_encoder(config))
    source_embedding.positions = make_positions(*this, "source_positions.weight", "encoder.positions");
  target_embedding.positions = make_positions(*this, "target_positions.weight", "decoder.positions");
  if (config.embedding_norm && has_encoder(config))
    source_embedding.norm = make.norm("encoder.embedding_norm", config.d_model);
  if (config.embedding_norm) target_embedding.norm = make.norm("decoder.embedding_norm", config.d_model);
  if (has_encoder(config)) make_encoder(*this, make);
  make_decoder(*this, make);
  parameters.allocate(buffers);
}

}  // namespace dragoman::internal
