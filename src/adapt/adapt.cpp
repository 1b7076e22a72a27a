#include "adapt/adapt.h"

#include <filesystem>

#include "adapt/general.h"
#include "adapt/segments.h"
#include "adapt/tuning.h"
#include "base/atomic_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "document/document.h"
#include "memory/memory.h"
#include "model/folder.h"
#include "model/weights.h"
#include "search/saved_model.h"
#include "student/stages.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* adaptation_name = "adaptation.json";

std::string adaptation_path(const std::string& folder) { return folder + "/" + adaptation_name; }

void check_model(const AdaptConfig& config) {
  const std::string& model = config.model;
  if (read_model_config(model).kind == ModelKind::language_model)
    throw UsageError("{} is a language model, which does not translate", model);
  const std::string weights = existing_weights(model);
  if (saved_precision(weights, SafetensorsFile::open(weights)) != Precision::fp32)
    throw UsageError(
        "{} has weights of low precision, which cannot be trained: adapt the model that it was made from, "
        "and "
        "quantize the new one (dragoman quantize)",
        model);
  std::error_code none;
  if (fs::equivalent(model, config.out, none))
    throw UsageError("{} is the model that is adapted: choose another folder (--out)", model);
}

void find_languages(AdaptConfig& config) {
  std::string &from = config.segments.from, &to = config.segments.to;
  std::string first_from, first_to;
  for (const std::string& folder : config.memories) {
    const TranslationMemory memory(folder, MemoryAccess::read);
    if (first_from.empty()) first_from = memory.from(), first_to = memory.to();
    if (!same_language(memory.from(), first_from) || !same_language(memory.to(), first_to))
      throw UsageError("{} is a memory of {}-{}, and {} of {}-{}: adapt to one pair of languages",
                       config.memories.front(), first_from, first_to, folder, memory.from(), memory.to());
  }
  if (from.empty()) from = first_from;
  if (to.empty()) to = first_to;
  const SearchOptions search = read_search_options(config.model, read_config(config.model));
  if (from.empty()) from = search.from;
  if (to.empty()) to = search.to;
}

// --- stages -----------------------------------------------------------------------------------------

Stage open_stage(const std::string& folder, const char* name, ordered_json inputs) {
  Stage stage(folder, name, std::move(inputs));
  log_info("stage {}{}", name, stage.is_done() ? ": as it was" : "");
  return stage;
}

ordered_json tuned_inputs(const AdaptConfig& config, const Recipe& recipe) {
  return {{"model", model_checksum(config.model)}, {"run", student_inputs(recipe)}};
}

struct Adapted {
  AdaptChoice choice;
  int64_t segments = 0;  // that it has learned from, or is measured on
};

Adapted run_stages(const AdaptConfig& config, const std::string& work) {
  Stage segments = open_stage(work, "segments", segments_inputs(config));
  if (!segments.is_done()) write_segments(config, segments);
  Stage general = open_stage(work, "general", general_inputs(config));
  if (!general.is_done()) write_general(config, general);
  const SplitText own = split_text_in(segments.folder()), other = split_text_in(general.folder());

  const Recipe recipe = tuning_recipe(config, own, other);
  Stage tuned = open_stage(work, "tuned", tuned_inputs(config, recipe));
  tune(recipe, config, tuned);

  const AdaptTests tests = {read_held_out(own), read_held_out(other), general.report().at("references")};
  Stage choice = open_stage(work, "choice",
                            {{"models", models_checksum({config.model, tuned.folder()})},
                             {"files", file_checksums({own.held_out_source, own.held_out_target,
                                                       other.held_out_source, other.held_out_target})},
                             {"max_loss", config.max_loss}});
  if (!choice.is_done()) choose_weights(config, tuned.folder(), tests, choice);
  const ordered_json& counts = segments.report();
  return {choice_from_json(choice.report()),
          counts.at("learnt").get<int64_t>() + counts.at("held_out").get<int64_t>()};
}

// --- the new model ----------------------------------------------------------------------------------

ordered_json inputs_of(const AdaptConfig& config) {
  return {{"segments", segments_inputs(config)},
          {"general", general_inputs(config)},
          {"options",
           {config.general_share, config.max_loss, static_cast<int>(config.weights), config.learning_rate,
            config.max_minutes, config.max_steps, config.seed}}};
}

// What the folder's model was made of and how good it is; null where adapting did not make it.
ordered_json read_adaptation(const std::string& folder) {
  if (!fs::exists(adaptation_path(folder))) return {};
  try {
    return parse_json<ordered_json>(read_file(adaptation_path(folder)));
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

void publish(const std::string& model, const ordered_json& adaptation, AtomicFolder& out) {
  for (const std::string& file : entries_of(model))
    fs::copy_file(file, out.path() + "/" + fs::path(file).filename().string());
  write_file(adaptation_path(out.path()), {adaptation.dump(1), "\n"});
  out.finish();
}

std::string without_slash(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

}  // namespace

AdaptChoice adapt_model(AdaptConfig config) {
  check_model(config);
  find_languages(config);
  const std::string work = without_slash(config.out) + ".work";
  AtomicFolder out(config.out, adaptation_name);
  const ordered_json inputs = inputs_of(config), known = read_adaptation(config.out);
  if (known.is_object() && known.value("inputs", ordered_json()) == inputs) {
    log_info("{} is up to date", config.out);
    fs::remove_all(work);
    AdaptChoice choice = choice_from_json(known.at("scores"));
    choice.was_made_before = true;
    return choice;
  }
  const Adapted adapted = run_stages(config, work);
  if (!adapted.choice.is_better()) return adapted.choice;
  publish(work + "/choice/model",
          {{"model", inputs.at("general").at("model")},
           {"segments", adapted.segments},
           {"scores", to_json(adapted.choice)},
           {"inputs", inputs}},
          out);
  fs::remove_all(work);
  return adapted.choice;
}

}  // namespace dragoman::internal
