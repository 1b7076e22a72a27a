#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "convert/check_tensors.h"
#include "convert/files/packed.h"
#include "convert/files/yaml.h"
#include "convert/marian/config.h"
#include "convert/marian/folder.h"
#include "convert/marian/names.h"
#include "convert/marian/shortlist.h"
#include "convert/marian/vocabularies.h"
#include "convert/systems.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

constexpr int64_t default_max_length = 1000;
constexpr uint64_t max_training_bytes = 1 << 20;

// Marian itself is seldom used with these.
bool is_binary(const MarianFolder& folder) {
  return std::filesystem::path(folder.model).filename().string().find(".bin") != std::string::npos;
}

Settings settings_of(const MarianFile& file, const std::string& path) {
  if (file.configuration.empty())
    throw Error("{} has no special:model.yml, the configuration that Marian embeds", path);
  return {path, parse_yaml(file.configuration, path + ":special:model.yml")};
}

// What Marian leaves beside a model that it trains.
std::optional<Settings> training_of(const std::string& model) {
  const std::string path = model + ".yml";
  if (!std::filesystem::exists(path)) return {};
  return Settings(path, parse_yaml(read_packed(path, max_training_bytes), path));
}

// Without a decoder.yml, the defaults of the program that the model is made for.
json search_of(const MarianFolder& folder) {
  const bool fast = is_binary(folder) && !folder.decoding;
  const Settings none(folder.model, json::object());
  const Settings& s = folder.decoding ? *folder.decoding : none;
  json search = {
      {"beam", std::clamp<int64_t>(s.integer("beam-size", fast ? 1 : 12), 1, 1000)},
      {"beam-ending", "narrowing"},
      {"length-penalty", std::max(0.0, s.number("normalize", fast ? 1 : 0))},
      {"max-length", default_max_length},
      {"max-length-ratio", std::max(0.0, s.number("max-length-factor", is_binary(folder) ? 2 : 3))}};
  if (search["length-penalty"] > 0) search["penalty-form"] = "plain";
  if (!folder.shortlist.empty()) search["shortlist"] = true;
  return search;
}

// Of Firefox's files, "model.enfr.intgemm.alphas.bin".
std::string source_language_of(const MarianFolder& folder) {
  const std::string name = std::filesystem::path(folder.model).filename().string(), start = "model.";
  const bool named = name.starts_with(start) && name.find('.', start.size()) == start.size() + 4;
  return named ? name.substr(start.size(), 2) : "";
}

std::vector<std::string> choices_of(const ImportedModel& model, const MarianFolder& folder) {
  std::vector<std::string> choices = {
      "positions: Marian's, from 0; the decoder begins with a zero vector",
      fmt::format("source tokens: {}; target tokens: {}", folder.vocabularies[0].tokens,
                  folder.vocabularies[1].tokens),
      search_choice(model)};
  if (has_ssru(model.config))
    choices.push_back("the decoder has recurrent units (SSRU) instead of self-attention");
  if (model.config.alignment_layer > 0)
    choices.push_back(
        fmt::format("words are aligned by layer {} of the decoder, which guided alignment trained",
                    model.config.alignment_layer));
  if (!folder.shortlist.empty())
    choices.push_back(
        fmt::format("outputs consist only of words from the shortlist {}, unless --shortlist false is given",
                    folder.shortlist));
  if (!folder.text_shortlist.empty())
    choices.push_back(fmt::format("{}: only binary shortlists are imported", folder.text_shortlist));
  if (folder.decoding && folder.decoding->number("word-penalty", 0) != 0)
    choices.push_back(
        fmt::format("{}: word-penalty is not supported and is ignored", folder.decoding->path()));
  return choices;
}

// Activations' multipliers are not needed: Dragoman measures them itself.
TensorNames marian_tensor_names(const MarianNaming& naming) {
  return {.of = [naming](const std::string& parameter) { return marian_names(naming, parameter); },
          .can_ignore =
              [](const std::string& name) {
                return name.ends_with("_QuantMultA") || name.starts_with("special:");
              }};
}

}  // namespace

bool is_marian(const std::string& source) { return has_marian_model(source); }

ImportedModel import_marian(const ImportRequest& request) {
  const MarianFolder folder = find_marian_files(request);
  MarianFile file = open_marian(folder.model);
  const Settings settings = settings_of(file, folder.model);
  ImportedModel model = {.system = is_binary(folder) ? "Marian or Bergamot" : "Marian",
                         .config = marian_config(settings)};
  model.config.alignment_layer = guided_layer_of(settings, training_of(folder.model));
  const MarianNaming naming = {.shared_embeddings = has_shared_embeddings(settings),
                               .norm = model.config.norm,
                               .untransposed_generator = file.tensors.contains("decoder_ff_logit_out_W")};
  const auto theirs = std::make_shared<const MarianModel>(MarianModel{folder.model, std::move(file), naming});
  model.tensors_of = [theirs](const Parameter& parameter) { return marian_tensors(*theirs, parameter); };
  check_tensors(model, folder.model, theirs->file.tensors, marian_tensor_names(naming));
  model.vocabularies = read_marian_vocabularies(folder, model.config);
  if (!folder.shortlist.empty())
    model.shortlist = read_marian_shortlist(folder.shortlist, model.config.source_vocabulary,
                                            model.config.target_vocabulary, model.vocabularies.shared());
  const auto is_int8 = [](const auto& tensor) { return tensor.second.type == ElementType::i8; };
  if (std::ranges::any_of(theirs->file.tensors, is_int8)) model.precision = Precision::int8;
  model.source_language = source_language_of(folder);
  model.search = search_of(folder);
  model.choices = choices_of(model, folder);
  return model;
}

}  // namespace dragoman::internal
