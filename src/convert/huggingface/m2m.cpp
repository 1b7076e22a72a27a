#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "convert/fairseq/names.h"
#include "convert/huggingface/folder.h"
#include "convert/huggingface/languages.h"
#include "convert/systems.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

constexpr int64_t m2m_first_position = 2;  // of a sentence: the rows before belong to padding

bool is_mbart(const Settings& settings) { return settings.text("model_type", "") == "mbart"; }

void check_m2m(const Settings& settings) {
  if (settings.integer("num_experts", 0) > 0)
    throw Error("{}: num_experts = {}: mixtures of experts are not supported", settings.path(),
                settings.integer("num_experts"));
  settings.require("add_bias_logits", false);
  if (!is_mbart(settings)) return;
  for (const char* key : {"normalize_before", "normalize_embedding", "add_final_layer_norm"})
    settings.require(key, true);
  settings.require("static_position_embeddings", false);
}

ModelConfig m2m_config(const Settings& s) {
  ModelConfig config = common_config(s);
  config.norm = NormOrder::pre;
  config.positions = Positions::tensor2tensor;
  config.position_offset = m2m_first_position;
  config.tied = s.flag("tie_word_embeddings", true) ? Tied::all : Tied::none;
  config.embedding_scale = s.flag("scale_embedding", !is_mbart(s)) ? 0 : 1;
  if (is_mbart(s)) {
    config.positions = Positions::learned;
    config.position_offset = 0;
    config.max_positions = s.integer("max_position_embeddings", 1024);
    config.embedding_norm = true;
  }
  return config;
}

// The defaults that the folder specifies: NLLB's own is English, and is ignored.
json languages_of(const std::string& folder, const Settings& settings, const Languages& languages) {
  json search = json::object();
  const auto set = [&](const char* key, const std::string& name) {
    if (std::ranges::count(languages.names(), name) > 0) search[key] = name;
  };
  if (std::filesystem::exists(folder + "/tokenizer_config.json")) {
    const Settings file(folder, "tokenizer_config.json");
    set("from", file.text("src_lang", ""));
    set("to", file.text("tgt_lang", ""));
  }
  if (settings.has("forced_bos_token_id"))
    set("to", language_of(languages, settings.integer("forced_bos_token_id")));
  if (languages.replaces_start && settings.has("decoder_start_token_id"))
    set("to", language_of(languages, settings.integer("decoder_start_token_id")));
  return search;
}

// --- The weights ------------------------------------------------------------------------------------

// A file may store one matrix under any of its names.
const ForeignTensor& embedding(const ForeignTensors& tensors, const std::string& path, const std::string& own,
                               const std::vector<int64_t>& shape) {
  for (const std::string& name :
       {own, std::string("model.shared.weight"), std::string("model.encoder.embed_tokens.weight"),
        std::string("model.decoder.embed_tokens.weight"), std::string("lm_head.weight")}) {
    if (tensors.contains(name)) return tensor_of(tensors, path, name, shape);
  }
  return tensor_of(tensors, path, own, shape);
}

ForeignTensor m2m_positions(const ForeignTensors& tensors, const std::string& path, const char* stack,
                            int64_t rows, int64_t columns) {
  const std::string name = fmt::format("model.{}.embed_positions.weight", stack);
  return rows_of(tensor_of(tensors, path, name, {rows + m2m_first_position, columns}), m2m_first_position,
                 rows);
}

std::vector<ForeignTensor> m2m_tensors(const ForeignTensors& tensors, const std::string& path,
                                       const Parameter& parameter) {
  const std::string& name = parameter.name;
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
  if (name == "source_positions.weight") return {m2m_positions(tensors, path, "encoder", rows, columns)};
  if (name == "target_positions.weight") return {m2m_positions(tensors, path, "decoder", rows, columns)};
  if (name == "generator.bias") {
    if (tensors.contains("final_logits_bias"))
      return {tensor_of(tensors, path, "final_logits_bias", {rows, columns})};
    return {zero_bias(columns)};
  }
  for (const auto& [ours, theirs] : {std::pair("shared_embedding.weight", "model.shared.weight"),
                                     {"source_embedding.weight", "model.encoder.embed_tokens.weight"},
                                     {"target_embedding.weight", "model.decoder.embed_tokens.weight"},
                                     {"generator.weight", "lm_head.weight"}}) {
    if (name == ours) return {embedding(tensors, path, theirs, {rows, columns})};
  }
  return layer_parts(tensors, path, "model.", parameter);
}

bool has_bias(const ForeignTensors& tensors) {
  const auto bias = tensors.find("final_logits_bias");
  if (bias == tensors.end()) return false;
  return std::ranges::any_of(to_floats(bias->second), [](float value) { return value != 0; });
}

std::vector<std::string> m2m_choices(const ImportedModel& model) {
  const Languages& languages = model.vocabularies.target->languages();
  const char* position =
      languages.position == Languages::TokenPosition::first ? "before the text" : "after </s>";
  return {model.config.positions == Positions::learned
              ? fmt::format("positions: learned, for {} tokens", model.config.max_positions)
              : "positions: tensor2tensor's, from 2",
          fmt::format("{} languages; the source has its token {}, the output begins with its own",
                      languages.tokens.size(), position),
          search_choice(model)};
}

}  // namespace

bool is_huggingface_m2m(const std::string& folder) {
  const std::string type = model_type_of(folder);
  return type == "m2m_100" || type == "mbart";
}

ImportedModel import_huggingface_m2m(const ImportRequest& request) {
  const Settings settings = read_model_settings(request.source);
  check_m2m(settings);
  ImportedModel model = {.system = is_mbart(settings) ? "Hugging Face mBART" : "Hugging Face M2M100",
                         .config = m2m_config(settings)};
  auto [tensors, path] = read_model_weights(request.source);
  embedding(tensors, path, "model.shared.weight", {model.config.source_vocabulary, model.config.d_model});
  model.vocabularies = read_many_languages(request, settings, model.config.source_vocabulary);
  const Languages& languages = model.vocabularies.target->languages();
  model.max_length = std::max<int64_t>(1, settings.integer("max_position_embeddings", 1024) - 2);
  model.search = search_of(settings, languages.replaces_start ? 1 : 2);
  model.search.update(languages_of(request.source, settings, languages));
  model.config.tied_bias = model.config.tied != Tied::none && has_bias(tensors);
  model.choices = m2m_choices(model);
  note_ignored(settings, model.choices);
  const auto theirs = std::make_shared<const ForeignTensors>(std::move(tensors));
  model.tensors_of = [theirs, path = path](const Parameter& parameter) {
    return m2m_tensors(*theirs, path, parameter);
  };
  check_fairseq_names(model, path, *theirs);
  return model;
}

}  // namespace dragoman::internal
