#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/quotes.h"
#include "convert/check_tensors.h"
#include "convert/fairseq/listed_tokens.h"
#include "convert/fairseq/names.h"
#include "convert/files/safetensors.h"
#include "convert/opennmt/common.h"
#include "convert/settings.h"
#include "convert/systems.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string eole_source_table = "src_emb.embeddings.weight",
                  eole_target_table = "tgt_emb.embeddings.weight";

// --- The configuration ------------------------------------------------------------------------------

// Of one stack: what it does not specify itself, the model specifies for both.
Settings stack_of(const Settings& model, const char* stack) {
  Settings settings = model;
  settings.update(model.object(stack));
  return settings;
}

void refuse_setting(const Settings& s, const char* key) {
  throw Error("{}: {} = {} is not supported", s.path(), key, s.values()[key].dump());
}

void check_eole(const Settings& stack) {
  for (const char* key : {"parallel_residual", "shared_layer_norm", "ffn_layernorm", "query_norm", "key_norm",
                          "value_norm", "q_gating"})
    stack.require(key, false);
  for (const char* key : {"relative_positions_buckets", "sliding_window", "num_experts"})
    if (stack.integer(key, 0) > 0) refuse_setting(stack, key);
  for (const char* key : {"attn_scaling", "layer_types", "interpolate_mode"})
    if (stack.has(key)) refuse_setting(stack, key);
  if (stack.has("heads_kv") && stack.integer("heads_kv") != stack.integer("heads"))
    refuse_setting(stack, "heads_kv");
  if (stack.has("head_dim") &&
      stack.integer("head_dim") * stack.integer("heads") != stack.integer("hidden_size"))
    refuse_setting(stack, "head_dim");
  if (stack.text("encoder_layer_style", "standard") != "standard")
    refuse_setting(stack, "encoder_layer_style");
  if (stack.text("encoder_type", "transformer") != "transformer") refuse_setting(stack, "encoder_type");
  if (stack.text("decoder_type", "transformer") != "transformer") refuse_setting(stack, "decoder_type");
  stack.require("final_encoder_layer_norm", true);
}

Activation eole_activation(const Settings& s) {
  const std::string name = s.text("mlp_activation_fn", "relu");
  for (const auto& [known, activation] : {std::pair("relu", Activation::relu),
                                          {"gelu", Activation::gelu},
                                          {"gelu-tanh", Activation::gelu_tanh},
                                          {"silu", Activation::swish},
                                          {"gated-gelu", Activation::gelu},
                                          {"gated-gelu-tanh", Activation::gelu_tanh},
                                          {"gated-silu", Activation::swish}})
    if (name == known) return activation;
  throw Error("{}: mlp_activation_fn {} is not supported", s.path(), in_quotes(name));
}

// standardFP32 differs only in 16-bit computation; gemma-rms adds 1 to the gain.
NormKind norm_kind_of(const Settings& stack) {
  const std::string name = stack.text("layer_norm", "standard");
  if (name == "rms") return NormKind::rms;
  if (name != "standard" && name != "standardFP32") refuse_setting(stack, "layer_norm");
  return NormKind::layer;
}

// These must be the same in both stacks.
void check_common(const Settings& encoder, const Settings& decoder) {
  for (const char* key : {"layer_norm", "norm_eps", "mlp_activation_fn", "position_encoding_type",
                          "n_positions", "rope_config"})
    if (encoder.values().value(key, json()) != decoder.values().value(key, json()))
      refuse_setting(decoder, key);
}

// Turns of the whole of each head, at rates that depend on theta alone.
void check_rotary(const Settings& rope) {
  for (const char* key : {"rotary_dim", "rotary_dim_global"})
    if (rope.integer(key, 0) != 0) refuse_setting(rope, key);
  for (const char* key : {"scaling_type", "xdrope_section"})
    if (rope.has(key)) refuse_setting(rope, key);
  if (rope.number("partial_rotary_factor", 0) != 0) refuse_setting(rope, "partial_rotary_factor");
}

// Only embeddings with positions are multiplied by the root of their width.
void set_positions(const Settings& model, ModelConfig& config) {
  const Settings embeddings = model.object("embeddings");
  embeddings.require("normalize", false);
  embeddings.require("embedding_layer_norm", false);
  const std::string name = embeddings.text("position_encoding_type",
                                           model.text("position_encoding_type", "SinusoidalInterleaved"));
  if (name == "SinusoidalInterleaved") return;
  if (name == "SinusoidalConcat") {
    config.positions = Positions::tensor2tensor;
    return;
  }
  config.embedding_scale = 1;
  if (name == "Rotary") {
    const Settings rope = model.object("rope_config");
    check_rotary(rope);
    config.positions = Positions::rotary;
    config.rotary_base = rope.number("rotary_theta", default_base);
  } else if (name == "Alibi") {
    config.positions = Positions::alibi;
  } else if (name == "Relative") {
    config.positions = Positions::none;
    config.relative_distance = embeddings.integer("n_positions", model.integer("n_positions", 0));
    if (config.relative_distance < 1)
      throw Error("{}: n_positions is missing, which says how far relative positions reach", model.path());
  } else {
    throw Error("{}: position_encoding_type {} is not supported", model.path(), in_quotes(name));
  }
}

ModelConfig eole_config(const Settings& model) {
  const Settings encoder = stack_of(model, "encoder"), decoder = stack_of(model, "decoder");
  check_eole(encoder);
  check_eole(decoder);
  check_common(encoder, decoder);
  ModelConfig config = {.encoder_layers = encoder.integer("layers"),
                        .decoder_layers = decoder.integer("layers"),
                        .d_model = encoder.integer("hidden_size"),
                        .heads = encoder.integer("heads", opennmt_heads),
                        .d_ff = encoder.integer("transformer_ff", opennmt_d_ff),
                        .decoder_heads = decoder.integer("heads", opennmt_heads),
                        .decoder_d_ff = decoder.integer("transformer_ff", opennmt_d_ff),
                        .norm = NormOrder::pre,
                        .norm_kind = norm_kind_of(encoder),
                        .norm_eps = encoder.number("norm_eps", 1e-5),
                        .activation = eole_activation(encoder),
                        .gated = encoder.text("mlp_activation_fn", "relu").starts_with("gated-")};
  set_positions(model, config);
  if (model.flag("share_decoder_embeddings", false))
    config.tied = model.flag("share_embeddings", false) ? Tied::all : Tied::output;
  return config;
}

// --- The vocabulary ---------------------------------------------------------------------------------

TokenTable read_tokens(const Settings& file, const char* side) {
  std::vector<std::string> tokens;
  if (!file.has(side) || !file.values()[side].is_array()) throw Error("{} has no list {}", file.path(), side);
  for (const json& token : file.values()[side]) {
    if (!token.is_string())
      throw Error("{}: {} contains {}, which is not a string", file.path(), side, token.dump());
    tokens.push_back(token);
  }
  const Settings specials = file.object("specials");
  const std::string unknown = specials.text("unk_token", "<unk>"), end = specials.text("eos_token", "</s>"),
                    start = file.text("decoder_start_token", specials.text("bos_token", "<s>"));
  std::vector<std::string> suppressed = {specials.text("pad_token", "<blank>")};
  if (start != end) suppressed.push_back(start);
  return token_table(std::move(tokens), {unknown.c_str(), start.c_str(), end.c_str(), std::move(suppressed)},
                     file.path());
}

// --- The weights ------------------------------------------------------------------------------------

// model.00.safetensors, model.01.safetensors, ...
ForeignTensors read_weights_of(const std::string& folder) {
  ForeignTensors all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("model.") && name.ends_with(".safetensors"))
      all.merge(read_foreign_safetensors(entry.path().string()));
  }
  if (all.empty()) throw Error("{} has no model.00.safetensors", folder);
  for (const auto& [name, tensor] : all) {
    if (name.ends_with("layer_scalar") && to_floats(tensor) != std::vector{1.0F})
      throw Error("{}: {} is not 1, which is not supported", folder, name);
  }
  return all;
}

std::vector<ForeignTensor> eole_tensors(const ForeignTensors& tensors, const std::string& path,
                                        const LayerStyle& style, const Parameter& parameter) {
  const std::string& name = parameter.name;
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
  if (name == "generator.bias") {
    if (!tensors.contains(name)) return {zero_bias(columns)};
    return {as_row(tensor_of(tensors, path, name, {columns}))};
  }
  if (name == "generator.weight") return {tensor_of(tensors, path, name, {rows, columns})};
  if (name == "target_embedding.weight")
    return {tensor_of(tensors, path,
                      tensors.contains(eole_target_table) ? eole_target_table : eole_source_table,
                      {rows, columns})};
  if (name.ends_with("embedding.weight"))
    return {tensor_of(tensors, path, eole_source_table, {rows, columns})};
  return opennmt_layer(tensors, path, style, parameter);
}

// Besides the embeddings: tables of positions, which are computed; the scale of a layer, which is 1; and an estimator
// of quality, which scores translations after the search.
bool can_ignore_in_eole(const std::string& name) {
  static const std::set<std::string, std::less<>> known = {eole_source_table,  eole_target_table,
                                                           "generator.weight", "generator.bias",
                                                           "src_emb.pe.pe",    "tgt_emb.pe.pe"};
  return known.contains(name) || name.ends_with(".layer_scalar") || name.starts_with("estimator.");
}

}  // namespace

bool is_eole(const std::string& folder) {
  if (!fs::is_directory(folder) || !fs::exists(folder + "/config.json") ||
      !fs::exists(folder + "/vocab.json"))
    return false;
  const Settings config(folder, "config.json");
  return config.has("model") && config.values()["model"].is_object();
}

ImportedModel import_eole(const ImportRequest& request) {
  const std::string& folder = request.source;
  const Settings settings = Settings(folder, "config.json").object("model"), vocabulary(folder, "vocab.json");
  ImportedModel model = {.system = "eole", .config = eole_config(settings), .source_eos = false};
  const TokenTable source = read_tokens(vocabulary, "src"), target = read_tokens(vocabulary, "tgt");
  model.vocabularies = listed_vocabularies(source, target, vocabulary_files(request, folder), folder);
  model.config.source_vocabulary = std::ssize(source.tokens);
  model.config.target_vocabulary = std::ssize(target.tokens);
  const auto tensors = std::make_shared<const ForeignTensors>(read_weights_of(folder));
  model.config.tied_bias = model.config.tied != Tied::none && tensors->contains("generator.bias");
  model.search = opennmt_search();
  model.choices = {described_positions(model.config),
                   fmt::format("the decoder begins with {}; the source has no end mark; norms add {}",
                               target.tokens[static_cast<size_t>(target.start)], model.config.norm_eps),
                   "beam 5, scores divided by the length: eole's defaults"};
  LayerStyle style = {.toolkit = Toolkit::eole};
  if (model.config.positions == Positions::rotary &&
      settings.object("rope_config").flag("rotary_interleave", true)) {
    style.encoder_heads = model.config.heads;
    style.decoder_heads = decoder_heads(model.config);
  }
  model.tensors_of = [tensors, folder, style](const Parameter& parameter) {
    return eole_tensors(*tensors, folder, style, parameter);
  };
  const auto names_of = [](const std::string& parameter) { return opennmt_names(Toolkit::eole, parameter); };
  check_tensors(model, folder, *tensors, {.of = names_of, .can_ignore = can_ignore_in_eole});
  return model;
}

}  // namespace dragoman::internal
