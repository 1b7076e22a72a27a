#include "adapt/adapt.h"

#include <filesystem>
#include <optional>

#include "adapt/general.h"
#include "adapt/segments.h"
#include "adapt/tuning.h"
#include "adapt/update.h"
#include "base/atomic_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "memory/memory.h"
#include "model/folder.h"
#include "model/weights_file.h"
#include "search/saved_model.h"
#include "student/stages.h"
#include "text/language_codes.h"

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
  const WeightsFile weights(existing_weights(model));
  if (weights.precision() != Precision::fp32)
    throw UsageError(
        "{} has weights of low precision, which cannot be trained: adapt the model that it was made from, "
        "and "
        "quantize the new one (dragoman quantize)",
        model);
  if (config.weights != AdaptedWeights::all && !weights.base().empty())
    throw UsageError("{} is an update of another model: adapt that one ({}), or choose --weights all", model,
                     weights.base());
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

std::vector<Trainable> weights_to_try(AdaptedWeights weights) {
  switch (weights) {
    case AdaptedWeights::all:
      return {Trainable::all};
    case AdaptedWeights::biases:
      return {Trainable::biases};
    case AdaptedWeights::low_rank:
      return {Trainable::low_rank};
    case AdaptedWeights::best:
      break;
  }
  return {Trainable::all, Trainable::low_rank, Trainable::biases};
}

const char* name_of(Trainable weights) {
  return weights == Trainable::all ? "all" : weights == Trainable::biases ? "biases" : "low_rank";
}

Stage open_stage(const std::string& folder, const std::string& name, ordered_json inputs) {
  Stage stage(folder, name, std::move(inputs));
  log_info("stage {}{}", name, stage.is_done() ? ": as it was" : "");
  return stage;
}

struct Texts {
  SplitText segments, general;
  AdaptTests held_out;
  int64_t segment_count = 0;  // that are learned from, or measured on
};

Texts text_stages(const AdaptConfig& config, const std::string& work) {
  Stage segments = open_stage(work, "segments", segments_inputs(config));
  if (!segments.is_done()) write_segments(config, segments);
  Stage general = open_stage(work, "general", general_inputs(config));
  if (!general.is_done()) write_general(config, general);
  const SplitText own = split_text_in(segments.folder()), other = split_text_in(general.folder());
  const ordered_json& counts = segments.report();
  return {own,
          other,
          {read_held_out(own), read_held_out(other), general.report().at("references")},
          counts.at("learnt").get<int64_t>() + counts.at("held_out").get<int64_t>()};
}

struct Adapted {
  AdaptChoice choice;
  TunedModel tuned;
  int64_t segment_count = 0;
};

Adapted weights_stages(const AdaptConfig& config, Trainable weights, const Texts& texts,
                       const std::string& work) {
  const std::string name = name_of(weights);
  const Recipe recipe = tuning_recipe(config, weights, texts.segments, texts.general);
  Stage tuned = open_stage(work, "tuned-" + name,
                           {{"model", model_checksum(config.model)}, {"run", student_inputs(recipe)}});
  tune(recipe, config, tuned);
  Stage choice =
      open_stage(work, "choice-" + name,
                 {{"models", models_checksum({config.model, tuned.folder()})},
                  {"files", file_checksums({texts.segments.held_out_source, texts.segments.held_out_target,
                                            texts.general.held_out_source, texts.general.held_out_target})},
                  {"max_loss", config.max_loss}});
  if (!choice.is_done()) choose_weights(config, tuned.folder(), texts.held_out, choice);
  const AdaptChoice chosen = choice_from_json(choice.report());
  return {chosen, {tuned.folder(), choice.path("model"), weights, chosen.share}, texts.segment_count};
}

bool is_better(const AdaptChoice& one, const AdaptChoice& other) {
  if (one.is_better() != other.is_better()) return one.is_better();
  return one.after.segments > other.after.segments;
}

Adapted run_stages(const AdaptConfig& config, const std::string& work) {
  const Texts texts = text_stages(config, work);
  std::optional<Adapted> best;
  for (const Trainable weights : weights_to_try(config.weights)) {
    Adapted adapted = weights_stages(config, weights, texts, work);
    if (!best || is_better(adapted.choice, best->choice)) best = std::move(adapted);
  }
  return std::move(*best);
}

// --- the new model ----------------------------------------------------------------------------------

ordered_json inputs_of(const AdaptConfig& config) {
  return {{"segments", segments_inputs(config)},
          {"general", general_inputs(config)},
          {"options",
           {config.general_share, config.max_loss, static_cast<int>(config.weights), config.rank,
            config.learning_rate, config.max_minutes, config.max_steps, config.seed}}};
}

// As a whole model where all weights have changed; else as an update, without the sample of the old model's text.
void publish(const AdaptConfig& config, const TunedModel& tuned, const ordered_json& adaptation,
             AtomicFolder& out) {
  const std::string& model = tuned.chosen;
  if (tuned.weights != Trainable::all) {
    copy_all_but_weights(model, out.path());
    write_update(config, tuned, out.path());
  } else {
    for (const std::string& file : entries_of(model))
      fs::copy_file(file, out.path() + "/" + fs::path(file).filename().string());
  }
  write_file(adaptation_path(out.path()), {json_text(adaptation, 1), "\n"});
  out.finish();
}

}  // namespace

AdaptChoice adapt_model(AdaptConfig config) {
  check_model(config);
  find_languages(config);
  const std::string work = without_final_slashes(config.out) + ".dragoman-work";
  AtomicFolder out(config.out, adaptation_name);
  const ordered_json inputs = inputs_of(config), known = read_record(adaptation_path(config.out));
  if (known.is_object() && known.value("inputs", ordered_json()) == inputs) {
    log_info("{} is up to date", config.out);
    fs::remove_all(work);
    AdaptChoice choice = choice_from_json(known.at("scores"));
    choice.was_made_before = true;
    return choice;
  }
  const Adapted adapted = run_stages(config, work);
  if (!adapted.choice.is_better()) return adapted.choice;
  publish(config, adapted.tuned,
          {{"model", inputs.at("general").at("model")},
           {"segments", adapted.segment_count},
           {"weights", name_of(adapted.tuned.weights)},
           {"scores", to_json(adapted.choice)},
           {"inputs", inputs}},
          out);
  fs::remove_all(work);
  return adapted.choice;
}

}  // namespace dragoman::internal
