#include "train/run_checks.h"

#include <filesystem>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "model/folder.h"
#include "text/unicode.h"
#include "text/vocabulary.h"
#include "train/checkpoints.h"
#include "train/run_model.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

// Some options may change on a resume; a key that the saved configuration lacks is not a change.
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
    if (repaired(to_text(value)) == to_text(saved_value)) continue;  // a file's name that JSON cannot say
    throw UsageError("{} holds a run with {} = {}, not {}: choose another folder (--out), or keep the value",
                     folder, option.key(), to_text(saved_value), to_text(value));
  }
}

// Of a key of [model]. Initialisation and dropout may differ; vocabularies are compared as such.
bool decides_outputs(const std::string& key, const ModelConfig& model) {
  if (key == "max_positions") return has_fixed_length(model.positions);
  if (key == "rotary_base") return model.positions == Positions::rotary;
  if (key == "position_buckets" || key == "max_distance") return model.positions == Positions::t5;
  return key != "alignment_layer" && !key.ends_with("dropout") && !key.ends_with("initialiser") &&
         !key.ends_with("_vocabulary");
}

// With the values that stand for others replaced by these.
nlohmann::json resolved(ModelConfig model) {
  model.head_width = attention_width(model, model.heads) / model.heads;
  model.decoder_heads = decoder_heads(model);
  model.decoder_d_ff = decoder_d_ff(model);
  return to_json(model);
}

// Weights are useful only in a model that computes the same, which shapes alone do not show.
void check_same_model(const ModelConfig& model, const std::string& init_from) {
  const nlohmann::json theirs = resolved(read_model_config(init_from)), ours = resolved(model);
  std::vector<std::string> there, here;
  for (const auto& [key, value] : ours.items()) {
    if (!decides_outputs(key, model) || theirs.at(key) == value) continue;
    there.push_back(fmt::format("model.{} = {}", key, theirs.at(key).dump()));
    here.push_back(value.dump());
  }
  if (there.empty()) return;
  throw UsageError("--init-from {} has {}, but this run has {}: make them equal", init_from,
                   fmt::join(there, ", "), fmt::join(here, ", "));
}

// A run that could save no checkpoint starts over. Any other model is another command's result, or its checkpoints are
// lost: it must not be overwritten.
bool may_be_replaced(const std::string& folder) {
  try {
    return !read_run_model(folder).resumable;
  } catch (const Error&) {
    return false;
  }
}

void check_no_finished_model(const std::string& folder) {
  if (!fs::exists(weights_path(folder)) || may_be_replaced(folder)) return;
  throw UsageError(
      "{0} holds a model, but no complete checkpoint to resume from: choose another folder (--out); "
      "--init-from {0} starts there with its weights",
      folder);
}

}  // namespace

void take_model(Options& options, const RunOptions& run) {
  if (run.init_from.empty()) return;
  // A run that resumes needs the other model no more.
  const std::string& folder = has_checkpoints(run.folder) ? run.folder : run.init_from;
  const std::string config = folder + "/config.json";
  if (!fs::exists(config)) return;  // which is reported later
  const ModelConfig model = read_model_config(folder);
  Recipe recipe;
  Options theirs;
  declare(theirs, recipe);
  theirs.from_json({{"model", to_json(model)}}, config, UnknownKeys::ignore);
  for (const Option& option : theirs.all()) {
    if (option.section != "model" || !decides_outputs(option.name, model)) continue;
    if (!options.is_given(option.key())) options.set(option.key(), option.get(), config);
  }
}

Recipe with_known_alignment(Recipe recipe, const RunOptions& run) {
  const bool starts = !run.init_from.empty() && !has_checkpoints(run.folder);
  const std::string& folder = starts ? run.init_from : run.folder;
  if (fs::exists(folder + "/config.json"))
    recipe.model.alignment_layer = read_model_config(folder).alignment_layer;
  return recipe;
}

nlohmann::json recipe_json(const Recipe& recipe) {
  Recipe copy = recipe;
  Options options;
  declare(options, copy);
  return options.to_json();
}

void check_fits_folder(const Recipe& recipe, const RunOptions& options) {
  if (!has_checkpoints(options.folder)) {
    if (!options.init_from.empty() && !fs::exists(weights_path(options.init_from)))
      throw UsageError("--init-from {0}: there is no {1}", options.init_from,
                       weights_path(options.init_from));
    check_no_finished_model(options.folder);
    if (options.resume == Resume::require)
      throw UsageError("{} has no checkpoint, but resume is require: start with resume auto", options.folder);
    if (!options.init_from.empty()) check_same_model(recipe.model, options.init_from);
  }
  if (!fs::exists(options.folder + "/config.json")) return;
  if (options.resume == Resume::never) {
    throw UsageError("{} already holds a model: choose another folder (--out), or resume it (--resume auto)",
                     options.folder);
  }
  const nlohmann::json saved = read_config(options.folder);
  if (!saved.contains("recipe")) return;
  check_same_recipe(saved.at("recipe"), recipe, options.folder);
}

void check_fits_new_run(const RunOptions& options) {
  check_no_finished_model(options.folder);
  if (has_checkpoints(options.folder)) {
    throw UsageError(
        "no checkpoint in {}/checkpoints can be used: remove them to start over, or choose another folder "
        "(--out)",
        options.folder);
  }
  if (!options.init_from.empty() && !have_same_vocabularies(options.folder, options.init_from)) {
    throw UsageError("--init-from {0} has another vocabulary than this run: add --vocabulary.from {0}",
                     options.init_from);
  }
}

void check_fits_checkpoint(const nlohmann::json& state, const std::string& checkpoint,
                           const ModelConfig& model, const std::string& corpus) {
  const nlohmann::json none = nlohmann::json::object(), saved = state.value("model", none),
                       own = to_json(model);
  for (const auto& [key, value] : saved.items()) {
    if (!own.contains(key) || own.at(key) == value) continue;
    throw UsageError(
        "{} is of a model with model.{} = {}, not {}: choose another folder (--out), or keep the value",
        checkpoint, key, value.dump(), own.at(key).dump());
  }
  if (state.value("corpus", corpus) == corpus) return;
  throw UsageError(
      "the corpus has changed since {} was saved: restore it, or start another run (--out) from this model "
      "(--init-from)",
      checkpoint);
}

void check_processes_agree(Processes& processes, const std::string& folder, const ProcessState& own) {
  struct Message {
    int64_t step, epoch, index;
    char instruction_set[128];
    bool stands_as(const Message& o) const { return step == o.step && epoch == o.epoch && index == o.index; }
  } message = {own.step, own.epoch, own.index, {}};
  own.instruction_set.copy(message.instruction_set, sizeof message.instruction_set - 1);
  const std::vector<Message> all = processes.gather(message);
  const std::string_view kernels = all[0].instruction_set;
  for (const Message& other : all) {
    const bool same_kernels = other.instruction_set == kernels;
    if (same_kernels && other.stands_as(all[0])) continue;
    if (!processes.first()) throw Error("");
    if (!same_kernels) {
      throw Error(
          "processes compute with different instruction sets, GPUs or drivers, {} and {}: set DRAGOMAN_ISA "
          "to an "
          "instruction set that all have, or use GPUs of one kind with one driver",
          kernels, other.instruction_set);
    }
    throw Error("processes see different checkpoints in {}: it must be one folder, shared by all", folder);
  }
}

}  // namespace dragoman::internal
