#include "train/run_checks.h"

#include <filesystem>

#include "model/folder.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// Some options may change on a resume; a key that the saved configuration lacks is no change.
void check_same_recipe(const nlohmann::json& saved, const Recipe& recipe, const std::string& folder) {
  Recipe now = recipe, before = recipe;
  Options options, saved_options;
  declare(options, now);
  declare(saved_options, before);
  saved_options.from_json(saved, folder + "/config.json", UnknownKeys::ignore);
  for (size_t i = 0; i < options.all().size(); ++i) {
    const Option& option = options.all()[i];
    const OptionValue value = option.get(), saved_value = saved_options.all()[i].get();
    const bool automatic = value == OptionValue("auto");  // the run keeps the value that was chosen for it
    if (option.may_change_on_resume || value == saved_value || automatic) continue;
    throw UsageError(
        "{} holds a run with {} = {}, not {}: take another folder (--out), or leave the value as it was",
        folder, option.key(), to_text(saved_value), to_text(value));
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
  check_same_recipe(saved.at("recipe"), recipe, options.folder);
}

}  // namespace dragoman
