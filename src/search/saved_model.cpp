#include "search/saved_model.h"

#include <algorithm>

#include "base/error.h"
#include "model/folder.h"

namespace dragoman {
namespace {

// A value of the recipe that the model was trained by; the default where an older version did not save it.
template <class T>
T recipe_value(const nlohmann::json& config, const char* section, const char* key, T otherwise) {
  const nlohmann::json value = config.value(
      nlohmann::json::json_pointer(std::string("/recipe/") + section + "/" + key), nlohmann::json());
  return value.is_null() ? otherwise : value.get<T>();
}

void check_sizes(const std::string& folder, const ModelConfig& config, const Vocabularies& vocabularies) {
  const auto check = [&](const char* side, int64_t expected, const Vocabulary& vocabulary) {
    if (expected == vocabulary.size()) return;
    throw Error(
        "{}/config.json speaks of {} {} words, but the vocabulary beside it has {}: they do not belong "
        "together",
        folder, expected, side, vocabulary.size());
  };
  check("source", config.source_vocabulary, *vocabularies.source);
  check("target", config.target_vocabulary, *vocabularies.target);
}

// A folder, once it is known to be a model's: of another one it helps nobody to hear which file is missing first.
const std::string& of_a_model(const std::string& folder) {
  read_config(folder);
  return folder;
}

// What sentences the model was made for.
struct Limits {
  bool source_eos;
  int64_t max_length, max_positions;
};

Limits limits_of(const std::string& folder, const ModelConfig& model) {
  Limits limits = {.source_eos = true,
                   .max_length = 100,
                   .max_positions = model.positions == Positions::learned ? model.max_positions : INT32_MAX};
  const nlohmann::json config = read_config(folder);
  try {
    limits.source_eos = recipe_value(config, "vocabulary", "source_eos", true);
    limits.max_length = recipe_value<int64_t>(config, "data", "max_length", 100);
  } catch (const nlohmann::json::exception& error) {
    throw Error("{}/config.json: {}", folder, error.what());
  }
  limits.max_length =
      std::clamp<int64_t>(limits.max_length, 1, std::max<int64_t>(1, limits.max_positions - 1));
  return limits;
}

}  // namespace

SavedModel::SavedModel(const std::string& folder_, const Kernels& kernels, int threads,
                       WantedPrecision precision)
    : folder(of_a_model(folder_)),
      vocabularies(read_vocabularies(folder)),
      device(kernels, threads),
      model(read_model_config(folder), device, Buffers::none_yet) {
  check_sizes(folder, model.config, vocabularies);
  hold_weights(device.context, weights_path(folder), model.parameters, precision);
  const Limits limits = limits_of(folder, model.config);
  source_eos = limits.source_eos;
  max_length = limits.max_length;
  max_positions = limits.max_positions;
}

void SavedModel::add(const std::string& other, WantedPrecision precision) {
  const Vocabularies words = read_vocabularies(of_a_model(other));
  if (words.source->model() != vocabularies.source->model() ||
      words.target->model() != vocabularies.target->model()) {
    throw Error("{} and {} have different vocabularies, and cannot translate together", folder, other);
  }
  auto added = std::make_unique<Transformer>(read_model_config(other), device, Buffers::none_yet);
  check_sizes(other, added->config, vocabularies);
  hold_weights(device.context, weights_path(other), added->parameters, precision);
  const Limits limits = limits_of(other, added->config);
  if (limits.source_eos != source_eos) {
    throw Error("{} and {} differ in vocabulary.source_eos, and cannot translate together", folder, other);
  }
  max_length = std::min(max_length, limits.max_length);
  max_positions = std::min(max_positions, limits.max_positions);
  others.push_back(std::move(added));
}

Models SavedModel::models() {
  Models all = {&model};
  for (const auto& other : others) all.push_back(other.get());
  return all;
}

std::vector<int32_t> SavedModel::encode_source(std::string_view text) const {
  std::vector<int32_t> ids = vocabularies.source->encode(text);
  if (source_eos && !ids.empty()) ids.push_back(eos_id);
  return ids;
}

}  // namespace dragoman
