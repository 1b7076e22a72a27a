#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "convert/fairseq/names.h"
#include "convert/huggingface/folder.h"
#include "convert/settings.h"
#include "convert/systems.h"
#include "text/spm_fields.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Marian in pre-norm with one embedding, which has no other tokenizer where `export` wrote it.
bool is_pegasus(const Settings& settings) { return settings.text("model_type", "") == "pegasus"; }

Settings read_settings(const std::string& folder) {
  Settings settings = read_model_settings(folder);
  if (is_pegasus(settings)) return settings;
  settings.require("normalize_before", false);
  settings.require("normalize_embedding", false);
  settings.require("add_final_layer_norm", false);
  settings.require("static_position_embeddings", true);
  settings.require("add_bias_logits", false);
  return settings;
}

Tied huggingface_tied(const Settings& settings) {
  if (!settings.flag("tie_word_embeddings", true)) return Tied::none;
  return settings.flag("share_encoder_decoder_embeddings", true) ? Tied::all : Tied::output;
}

ModelConfig huggingface_config(const Settings& s) {
  ModelConfig config = common_config(s);
  config.norm = is_pegasus(s) ? NormOrder::pre : NormOrder::post;
  config.positions = Positions::halves;
  config.tied = huggingface_tied(s);
  config.tied_bias = config.tied != Tied::none;
  config.embedding_scale = s.flag("scale_embedding", true) ? 0 : 1;
  config.target_vocabulary = s.integer("decoder_vocab_size", config.source_vocabulary);
  return config;
}

// --- The vocabularies -------------------------------------------------------------------------------

// The tokens of a file such as {"</s>": 0, "<unk>": 1, ...}, by id.
std::vector<std::string> read_tokens(const std::string& folder, const char* name, int64_t rows) {
  const Settings file(folder, name);
  const auto count = static_cast<int64_t>(file.values().size());
  if (count != rows)
    throw Error("{} has {} tokens, but the embedding in config.json has {} rows", file.path(), count, rows);
  std::vector<std::string> tokens(file.values().size());
  std::vector<bool> seen(tokens.size());
  for (const auto& [token, value] : file.values().items()) {
    const int64_t id = file.integer(token.c_str());
    if (id >= count || seen[static_cast<size_t>(id)])
      throw Error("{}: the ids must be 0 to {}, each once, but {} is {}", file.path(), count - 1, token, id);
    seen[static_cast<size_t>(id)] = true;
    tokens[static_cast<size_t>(id)] = token;
  }
  return tokens;
}

int32_t id_of(const std::vector<std::string>& tokens, const std::string& token, const std::string& path) {
  const auto found = std::ranges::find(tokens, token);
  if (found == tokens.end()) throw Error("{} has no token {}", path, token);
  return static_cast<int32_t>(found - tokens.begin());
}

// "bad_words_ids": [[58100]]; sequences of several tokens are not supported, and no known model has any.
std::vector<int32_t> forbidden_tokens(const Settings& settings, size_t tokens) {
  std::vector<int32_t> forbidden;
  if (!settings.has("bad_words_ids")) return forbidden;
  for (const json& sequence : settings.values()["bad_words_ids"]) {
    const json id = sequence.is_array() && sequence.size() == 1 ? sequence[0] : json();
    if (!id.is_number_integer() || id < 0 || id >= tokens)
      throw Error("{}: bad_words_ids contains {}, which is not a single token id", settings.path(),
                  sequence.dump());
    forbidden.push_back(id.get<int32_t>());
  }
  return forbidden;
}

TokenTable table_of(std::vector<std::string> tokens, const Settings& settings, const char* name) {
  const auto in_table = [&](const char* key, int64_t id) {
    if (id >= std::ssize(tokens))
      throw Error("{}: {} is {}, but {} has {} tokens", settings.path(), key, id, name, tokens.size());
    return static_cast<int32_t>(id);
  };
  TokenTable table;
  table.unknown = id_of(tokens, "<unk>", name);
  table.end = in_table("eos_token_id", settings.integer("eos_token_id"));
  table.tokens = std::move(tokens);
  return table;
}

std::shared_ptr<const Vocabulary> vocabulary_of(const std::string& folder, const char* name,
                                                const TokenTable& table) {
  const std::string path = (fs::path(folder) / name).string();
  return std::make_shared<const Vocabulary>(with_token_table(read_file(path), table), path);
}

Vocabularies vocabularies_of(const std::string& folder, const Settings& settings, const ModelConfig& config) {
  TokenTable source =
      table_of(read_tokens(folder, "vocab.json", config.source_vocabulary), settings, "vocab.json");
  TokenTable target = source;
  if (fs::exists(fs::path(folder) / "target_vocab.json")) {
    target = table_of(read_tokens(folder, "target_vocab.json", config.target_vocabulary), settings,
                      "target_vocab.json");
  }
  target.start =
      static_cast<int32_t>(settings.integer("decoder_start_token_id", settings.integer("pad_token_id")));
  if (target.start >= std::ssize(target.tokens))
    throw Error("{}: decoder_start_token_id is {}, but there are {} tokens", settings.path(), target.start,
                target.tokens.size());
  target.suppressed = forbidden_tokens(settings, target.tokens.size());
  return {vocabulary_of(folder, "source.spm", source), vocabulary_of(folder, "target.spm", target)};
}

// --- The weights ------------------------------------------------------------------------------------

std::string positions_name(const std::string& stack) {
  return fmt::format("model.{}.embed_positions.weight", stack);
}

// Old files have the table of positions, often in 16 bits, and transformers then computes with it.
bool has_other_positions(const ForeignTensors& tensors, int64_t width) {
  for (const char* stack : {"encoder", "decoder"}) {
    const auto found = tensors.find(positions_name(stack));
    if (found == tensors.end()) continue;
    const std::vector<float> table = to_floats(found->second);
    for (int64_t i = 0; i < std::ssize(table); ++i) {
      const double expected = position_value(Positions::halves, i / width, i % width, width);
      if (std::abs(static_cast<double>(table[static_cast<size_t>(i)]) - expected) > 1e-5) return true;
    }
  }
  return false;
}

// Embeddings of their own first: a model that does not tie them may have a `shared` that nothing reads.
std::string embedding_name(const ForeignTensors& tensors, const std::string& parameter, Tied tied) {
  const std::string side = parameter.starts_with("target") ? "decoder" : "encoder";
  const std::string own = fmt::format("model.{}.embed_tokens.weight", side);
  return tied == Tied::all || !tensors.contains(own) ? "model.shared.weight" : own;
}

std::vector<ForeignTensor> tensors_of(const ForeignTensors& tensors, const std::string& path, Tied tied,
                                      const Parameter& parameter) {
  const std::string& name = parameter.name;
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
  const auto tensor = [&](const std::string& theirs) {
    return std::vector{tensor_of(tensors, path, theirs, {rows, columns})};
  };
  if (name == "encoder.positions" || name == "decoder.positions")
    return tensor(positions_name(name.substr(0, 7)));
  if (name == "generator.bias") return tensor("final_logits_bias");
  if (name == "generator.weight") return tensor("lm_head.weight");
  if (name.ends_with("embedding.weight")) return tensor(embedding_name(tensors, name, tied));
  return layer_parts(tensors, path, "model.", parameter);
}

std::vector<std::string> choices_of(const ImportedModel& model, const std::string& weights) {
  const Vocabulary& target = *model.vocabularies.target;
  return {model.config.positions == Positions::stored
              ? fmt::format("positions: the table in {}, for {} tokens", weights, model.config.max_positions)
              : "positions: halves, from 0, as Hugging Face computes them",
          fmt::format("the decoder begins with {}", target.piece(target.special().start)),
          search_choice(model)};
}

}  // namespace

bool is_huggingface_marian(const std::string& folder) {
  const std::string type = model_type_of(folder);
  return type == "marian" || (type == "pegasus" && fs::exists(fs::path(folder) / "source.spm"));
}

ImportedModel import_huggingface_marian(const ImportRequest& request) {
  const std::string& folder = request.source;
  const Settings settings = read_settings(folder);
  ImportedModel model = {.system = is_pegasus(settings) ? "Hugging Face Pegasus" : "Hugging Face Marian",
                         .config = huggingface_config(settings)};
  model.vocabularies = vocabularies_of(folder, settings, model.config);
  model.max_length = std::max<int64_t>(1, settings.integer("max_position_embeddings", 512) - 1);
  if (fs::exists(fs::path(folder) / "tokenizer_config.json"))
    model.source_language = Settings(folder, "tokenizer_config.json").text("source_lang", "");
  model.search = search_of(settings, 1);
  auto [tensors, path] = read_model_weights(folder);
  if (has_other_positions(tensors, model.config.d_model)) {
    model.config.positions = Positions::stored;
    model.config.max_positions = model.max_length + 1;
  }
  model.choices = choices_of(model, path);
  note_ignored(settings, model.choices);
  const auto theirs = std::make_shared<const ForeignTensors>(std::move(tensors));
  model.tensors_of = [theirs, path = path, tied = model.config.tied](const Parameter& parameter) {
    return tensors_of(*theirs, path, tied, parameter);
  };
  check_fairseq_names(model, path, *theirs);
  return model;
}

}  // namespace dragoman::internal
