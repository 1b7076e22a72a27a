#include "convert/huggingface/folder.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/quotes.h"
#include "convert/check_tensors.h"
#include "convert/fairseq/names.h"
#include "convert/files/safetensors.h"
#include "convert/torch/file.h"

namespace dragoman::internal {

namespace fs = std::filesystem;

namespace {

Activation transformers_activation(const Settings& settings) {
  const std::string name = settings.text("activation_function", "gelu");
  for (const auto& [known, activation] : {std::pair("swish", Activation::swish),
                                          {"silu", Activation::swish},
                                          {"relu", Activation::relu},
                                          {"gelu", Activation::gelu},
                                          {"gelu_new", Activation::gelu_tanh},
                                          {"gelu_fast", Activation::gelu_tanh},
                                          {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                          {"quick_gelu", Activation::gelu_sigmoid}}) {
    if (name == known) return activation;
  }
  throw Error("{}: activation_function {} is not supported", settings.path(), in_quotes(name));
}

// A length of outputs, their first token counted. A number of new tokens overrides it.
int64_t length_of(const Settings& settings, const char* of_new, const char* of_all, int64_t otherwise) {
  return settings.has(of_new) ? settings.integer(of_new) + 1 : settings.integer(of_all, otherwise);
}

}  // namespace

Settings read_model_settings(const std::string& folder) {
  Settings settings(folder, "config.json");
  if (fs::exists(fs::path(folder) / "generation_config.json"))
    settings.update(Settings(folder, "generation_config.json"));
  return settings;
}

ModelConfig common_config(const Settings& s) {
  ModelConfig config = {.encoder_layers = s.integer("encoder_layers"),
                        .decoder_layers = s.integer("decoder_layers"),
                        .d_model = s.integer("d_model"),
                        .heads = s.integer("encoder_attention_heads"),
                        .d_ff = s.integer("encoder_ffn_dim"),
                        .decoder_heads = s.integer("decoder_attention_heads"),
                        .decoder_d_ff = s.integer("decoder_ffn_dim"),
                        .norm_eps = 1e-5,
                        .activation = transformers_activation(s),
                        .dropout = s.number("dropout", 0.1),
                        .attention_dropout = s.number("attention_dropout", 0),
                        .activation_dropout = s.number("activation_dropout", 0)};
  config.embedding_dropout = config.dropout;
  config.source_vocabulary = config.target_vocabulary = s.integer("vocab_size");
  return config;
}

std::pair<ForeignTensors, std::string> read_model_weights(const std::string& folder) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json"}) {
    const std::string path = (fs::path(folder) / name).string();
    if (fs::exists(path)) return {read_foreign_safetensors(path), path};
  }
  for (const char* name : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    const std::string path = (fs::path(folder) / name).string();
    if (fs::exists(path)) return {read_torch(path), path};
  }
  throw Error("{} has neither model.safetensors nor pytorch_model.bin", folder);
}

void check_fairseq_names(const ImportedModel& model, const std::string& path, const ForeignTensors& tensors) {
  const auto names_of = [](const std::string& parameter) {
    std::vector<std::string> names = fairseq_names(parameter);
    for (std::string& name : names) name.insert(0, "model.");
    return names;
  };
  const bool has_tables =
      model.config.positions != Positions::tensor2tensor;  // M2M100 computes its positions
  const auto can_ignore = [has_tables](const std::string& name) {
    const bool is_table = has_tables && name.ends_with("coder.embed_positions.weight"),
               is_value_head = name.starts_with("v_head.");  // a by-product of reinforcement learning
    return is_embedding_or_buffer(name) || is_table || is_value_head;
  };
  check_tensors(model, path, tensors, {.of = names_of, .can_ignore = can_ignore});
}

nlohmann::json search_of(const Settings& settings, int64_t start_tokens) {
  // Their length counts the start tokens and the end mark.
  const int64_t longest =
      std::max<int64_t>(1, length_of(settings, "max_new_tokens", "max_length", 512) - 1 - start_tokens);
  const bool stops_early =
      settings.values().value("early_stopping", nlohmann::json()) == nlohmann::json(true);
  nlohmann::json search = {{"beam", std::max<int64_t>(1, settings.integer("num_beams", 1))},
                           {"beam-ending", stops_early ? "early" : "separate"},
                           {"length-penalty", settings.number("length_penalty", 1)},
                           {"penalty-form", "plain"},
                           {"max-length", longest},
                           {"max-length-ratio", 0}};
  const int64_t shortest = length_of(settings, "min_new_tokens", "min_length", 0) - start_tokens;
  if (shortest > 0) search["min-length"] = std::min(shortest, longest);
  if (const int64_t ngram = settings.integer("no_repeat_ngram_size", 0); ngram > 0)
    search["no-repeat-ngram"] = ngram;
  if (const double penalty = settings.number("repetition_penalty", 1); penalty > 1)
    search["repetition-penalty"] = penalty;
  if (settings.has("forced_eos_token_id") &&
      settings.values()["forced_eos_token_id"] == settings.integer("eos_token_id"))
    search["forced-end"] = true;
  return search;
}

void note_ignored(const Settings& settings, std::vector<std::string>& choices) {
  const nlohmann::json suppressed = settings.values().value("suppress_tokens", nlohmann::json()),
                       stopping = settings.values().value("early_stopping", nlohmann::json());
  for (const auto& [what, is_set] :
       {std::pair("repetition_penalty below 1", settings.number("repetition_penalty", 1) < 1),
        {"early_stopping = \"never\"", stopping == nlohmann::json("never")},
        {"do_sample", settings.flag("do_sample", false)},
        {"num_beam_groups above 1", settings.integer("num_beam_groups", 1) > 1},
        {"encoder_no_repeat_ngram_size", settings.integer("encoder_no_repeat_ngram_size", 0) > 0},
        {"suppress_tokens", suppressed.is_array() && !suppressed.empty()}})
    if (is_set)
      choices.push_back(fmt::format("{}: {} is not supported and is ignored", settings.path(), what));
}

}  // namespace dragoman::internal
