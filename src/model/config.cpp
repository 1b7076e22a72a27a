#include "model/config.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/quotes.h"

namespace dragoman::internal {

namespace {

// These limits, and that of all heads together, keep every product of sizes within 64 bits; memory is exhausted long
// before.
constexpr int64_t max_layers = 1000, most = 1'000'000;

void declare_stacks(Section& model, ModelConfig& c) {
  const Range layers = at_least(1).at_most(max_layers);
  const Range size = at_least(1).at_most(most), size_or_0 = at_least(0).at_most(most);
  model.add("kind", c.kind,
            "an encoder and a decoder, or a language model: the decoder alone, which continues a text",
            {{"translation", ModelKind::translation}, {"language_model", ModelKind::language_model}});
  model.add("encoder_layers", c.encoder_layers, "encoder layers; language models have none", layers);
  model.add("decoder_layers", c.decoder_layers, "decoder layers", layers);
  model.add("d_model", c.d_model, "width of every layer's input and output", size);
  model.add("heads", c.heads, "attention heads", size);
  model.add("head_width", c.head_width, "width of each head; 0: d_model / heads", size_or_0);
  model.add("d_ff", c.d_ff, "inner width of the feed-forward layers", size);
  model.add("decoder_heads", c.decoder_heads, "attention heads of the decoder; 0: as many as the encoder",
            size_or_0);
  model.add("decoder_d_ff", c.decoder_d_ff,
            "inner width of the decoder's feed-forward layers; 0: that of the encoder's", size_or_0);
  model.add(
      "decoder_self_attention", c.decoder_self_attention,
      "what the decoder sees of the target so far: all tokens, or a recurrent unit's state (Marian's SSRU)",
      {{"attention", DecoderSelfAttention::attention}, {"ssru", DecoderSelfAttention::ssru}});
  model.add("ssru_input_bias", c.ssru_input_bias,
            "give the input of an SSRU a bias, as its gate has one; Marian's and Bergamot's have none");
  model.add("norm", c.norm,
            "normalise before each sublayer and after each stack, or after each sublayer (the paper)",
            {{"pre", NormOrder::pre}, {"post", NormOrder::post}});
  model.add("norm_kind", c.norm_kind,
            "layer normalisation (the paper), or RMSNorm, which neither subtracts the mean nor adds a bias",
            {{"layer", NormKind::layer}, {"rms", NormKind::rms}});
  model.add("norm_eps", c.norm_eps,
            "added to the variance in layer normalisation, to the mean of squares in RMSNorm",
            at_least(1e-30));
  model.add("activation", c.activation, "activation function of the feed-forward layers",
            {{"relu", Activation::relu},
             {"gelu", Activation::gelu},
             {"gelu_tanh", Activation::gelu_tanh},
             {"gelu_sigmoid", Activation::gelu_sigmoid},
             {"swish", Activation::swish}});
  model.add(
      "gated", c.gated,
      "multiply the activation's output by a second linear layer's (with swish: SwiGLU, with gelu: GEGLU)");
}

void declare_ends(Section& model, ModelConfig& c) {
  const Range size = at_least(1).at_most(most), size_or_0 = at_least(0).at_most(most);
  model.add("positions", c.positions, "positional encoding; docs/variants.md compares them",
            {{"sinusoidal", Positions::sinusoidal},
             {"halves", Positions::halves},
             {"tensor2tensor", Positions::tensor2tensor},
             {"raw_index", Positions::raw_index},
             {"learned", Positions::learned},
             {"stored", Positions::stored},
             {"rotary", Positions::rotary},
             {"alibi", Positions::alibi},
             {"t5", Positions::t5},
             {"none", Positions::none}});
  model.add("position_offset", c.position_offset,
            "number of a sentence's first position, for computed positions only", size_or_0);
  model.add("max_positions", c.max_positions,
            "longest sentence in tokens, for learned and stored positions only", size);
  model.add("rotary_base", c.rotary_base,
            "base of rotary frequencies: pair i of a head turns by base^(-2i/width) a position", at_least(1));
  model.add("position_buckets", c.position_buckets,
            "buckets of distances in t5's positions; the encoder's are halved between the two directions",
            at_least(4).at_most(most));
  model.add("max_distance", c.max_distance, "distance from which all keys share t5's last bucket", size);
  model.add("relative_distance", c.relative_distance,
            "distances up to this get vectors of their own in each self-attention, beside positions; 0: none",
            size_or_0);
  model.add("query_key_norm", c.query_key_norm,
            "divide each head's queries and keys by their root mean square, as RMSNorm without a gain does");
  model.add("embedding_scale", c.embedding_scale, "factor of the embeddings; 0: the square root of d_model",
            at_least(0));
  model.add("embedding_norm", c.embedding_norm, "normalise the sum of embeddings and positions");
  model.add("zero_start", c.zero_start,
            "read a vector of zeros at the target's first position, instead of the start symbol's embedding");
  model.add("tied", c.tied,
            "share one matrix between both embeddings, the target embedding and the generator, or all three",
            {{"none", Tied::none}, {"inputs", Tied::inputs}, {"output", Tied::output}, {"all", Tied::all}});
  model.add("tied_bias", c.tied_bias, "give a tied generator a bias, too; others always have one");
}

void declare_training(Section& model, ModelConfig& c) {
  const Range probability = at_least(0).below(1);
  model.add("initialiser", c.initialiser, "initialisation of weight matrices and biases",
            {{"xavier", Initialiser::xavier}, {"pytorch", Initialiser::pytorch}});
  model.add("embedding_initialiser", c.embedding_initialiser,
            "initialisation of embeddings; normal: N(0, d_model^-0.5)",
            {{"normal", EmbeddingInitialiser::normal},
             {"xavier", EmbeddingInitialiser::xavier},
             {"unit", EmbeddingInitialiser::unit}});
  model.add("dropout", c.dropout, "dropout of each sublayer's output", probability);
  model.add("attention_dropout", c.attention_dropout, "dropout of attention weights", probability);
  model.add("activation_dropout", c.activation_dropout, "dropout of the activation function's output",
            probability);
  model.add("embedding_dropout", c.embedding_dropout, "dropout of the sum of embeddings and positions",
            probability);
}

}  // namespace

ModelConfig without_dropout(ModelConfig config) {
  config.dropout = config.attention_dropout = config.activation_dropout = config.embedding_dropout = 0;
  return config;
}

void declare(Options& options, ModelConfig& c) {
  Section model = options.section("model", "The Transformer");
  declare_stacks(model, c);
  declare_ends(model, c);
  declare_training(model, c);
}

void validate(const ModelConfig& config) {
  ModelConfig c = config;
  Options options;
  declare(options, c);
  options.check_values();
  for (const auto& [key, heads] :
       {std::pair{"model.heads", c.heads}, std::pair{"model.decoder_heads", decoder_heads(c)}}) {
    if (attention_width(c, heads) > most)
      throw OptionError(
          key, fmt::format("is {}, and model.head_width {}: together at most {}", heads, c.head_width, most));
    if (c.head_width > 0 || c.d_model % heads == 0) continue;
    throw OptionError(key,
                      fmt::format("is {}, which does not divide model.d_model, {}: choose another one, or "
                                  "set model.head_width",
                                  heads, c.d_model));
  }
  if (is_added(c.positions) && !has_fixed_length(c.positions) && c.d_model % 2 != 0) {
    throw OptionError("model.d_model",
                      fmt::format("is {}, but must be even for positions that pair sines with cosines: "
                                  "choose an even one, or learned positions",
                                  c.d_model));
  }
  for (const int64_t heads : {c.heads, decoder_heads(c)}) {
    const int64_t width = attention_width(c, heads) / heads;
    if (c.positions != Positions::rotary || width % 2 == 0) continue;
    throw OptionError("model.positions",
                      fmt::format("is rotary, which turns pairs of columns, but heads are {} wide: set "
                                  "model.head_width to an even number",
                                  width));
  }
  if (c.positions == Positions::t5 && c.max_distance <= c.position_buckets / 2) {
    throw OptionError("model.max_distance",
                      fmt::format("is {}, but must be more than half of model.position_buckets, {}",
                                  c.max_distance, c.position_buckets));
  }
  if (c.alignment_layer > c.decoder_layers) {
    throw OptionError("model.alignment_layer", fmt::format("is {}, but the decoder has {}", c.alignment_layer,
                                                           counted(c.decoder_layers, "layer")));
  }
  const bool known = c.source_vocabulary != 0 && c.target_vocabulary != 0;
  if (has_shared_embedding(c) && known && c.source_vocabulary != c.target_vocabulary) {
    throw OptionError("model.tied", fmt::format("is {}, but source and target have {} and {} words: "
                                                "share one vocabulary, or tie only the output",
                                                c.tied == Tied::all ? "all" : "inputs", c.source_vocabulary,
                                                c.target_vocabulary));
  }
}

nlohmann::json to_json(const ModelConfig& config) {
  ModelConfig c = config;
  Options options;
  declare(options, c);
  nlohmann::json json = options.to_json()["model"];
  json["source_vocabulary"] = c.source_vocabulary;
  json["target_vocabulary"] = c.target_vocabulary;
  if (c.alignment_layer > 0) json["alignment_layer"] = c.alignment_layer;
  return json;
}

ModelConfig model_config_from_json(const nlohmann::json& json, const std::string& path) {
  if (!json.is_object()) throw UsageError("{}: \"model\" must be a JSON object", path);
  ModelConfig config;
  nlohmann::json declared = json;
  for (const auto& [name, size] : {std::pair{"source_vocabulary", &config.source_vocabulary},
                                   std::pair{"target_vocabulary", &config.target_vocabulary},
                                   std::pair{"alignment_layer", &config.alignment_layer}}) {
    const auto found = declared.find(name);
    if (found == declared.end()) continue;
    if (!found->is_number_integer() || *found < 0 || *found > INT32_MAX) {
      throw UsageError("{}: model.{} is {}, but must be a whole number, at least 0", path, name,
                       shortened(found->dump()));
    }
    *size = found->get<int64_t>();
    declared.erase(found);
  }
  Options options;
  declare(options, config);
  options.from_json({{"model", declared}}, path);
  options.check([&] { validate(config); });
  return config;
}

}  // namespace dragoman::internal
