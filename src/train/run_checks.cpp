#include "train/run_checks.h"

#include <filesystem>

#include "model/folder.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// What a resume may change: how long to train, and how to watch and keep it.
bool may_change(const std::string& section, const std::string& key) {
  return section == "validation" || section == "checkpoints" || key == "obtain" ||
         (section == "training" && (key.starts_with("max_") || key == "threads" ||
                                    key == "heartbeat_timeout" || key == "average_last"));
}

// What a run began with. A key that a later version added means what was done before there was a choice.
nlohmann::json with_historical_defaults(nlohmann::json saved) {
  if (saved.contains("training")) saved.at("training").emplace("part_tokens", 0);
  return saved;
}

void check_same_recipe(const nlohmann::json& saved, const nlohmann::json& now, const std::string& folder) {
  for (const auto& [section, options] : now.items()) {
    for (const auto& [key, value] : options.items()) {
      if (may_change(section, key) || !saved.contains(section) || !saved.at(section).contains(key)) continue;
      const nlohmann::json& before = saved.at(section).at(key);
      if (before == value || value == "auto") continue;  // what was automatic once is kept
      throw UsageError(
          "{} holds a run with {}.{} = {}, not {}: take another folder (--out), or leave the value as it "
          "was",
          folder, section, key, before.dump(), value.dump());
    }
  }
}

// Weights are of use where the same model reads them, which their shapes alone do not tell. How they were first drawn
// and what dropout there is may differ; the vocabularies are compared as such.
void check_same_model(const ModelConfig& model, const std::string& init_from) {
  const nlohmann::json theirs = to_json(read_model_config(init_from)), ours = to_json(model);
  for (const auto& [key, value] : ours.items()) {
    const bool free = key.ends_with("dropout") || key.ends_with("initialiser") ||
                      key.ends_with("_vocabulary") ||
                      (key == "max_positions" && model.positions != Positions::learned);
    if (free || theirs.at(key) == value) continue;
    throw UsageError("--init-from {0} has model.{1} = {2}, and this run {3}: give both the same", init_from,
                     key, theirs.at(key).dump(), value.dump());
  }
}

}  // namespace

nlohmann::json recipe_json(const Recipe& recipe) {
  Recipe copy = recipe;
  Options options;
  declare(options, copy);
  return options.to_json();
}

void check_no_finished_model(const std::string& folder) {
  if (!fs::exists(weights_path(folder))) return;
  throw UsageError(
      "{0} holds a model, and no whole checkpoint to go on from: take another folder (--out), where "
      "--init-from {0} begins with its weights",
      folder);
}

void check_fits_folder(const Recipe& recipe, const RunOptions& options) {
  if (!options.init_from.empty() && !fs::exists(weights_path(options.init_from)))
    throw UsageError("--init-from {0}: there is no {1}", options.init_from, weights_path(options.init_from));
  if (Checkpoints(options.folder + "/checkpoints", 1).list().empty()) {
    check_no_finished_model(options.folder);
    if (!options.init_from.empty()) check_same_model(recipe.model, options.init_from);
  }
  if (!fs::exists(options.folder + "/config.json")) return;
  if (options.resume == Resume::never) {
    throw UsageError(
        "{} holds a model already: take another folder (--out), or go on with it (--resume auto)",
        options.folder);
  }
  const nlohmann::json saved = read_config(options.folder);
  if (!saved.contains("recipe")) return;
  check_same_recipe(with_historical_defaults(saved.at("recipe")), recipe_json(recipe), options.folder);
}

}  // namespace dragoman
