#include "student/student.h"

#include <algorithm>
#include <optional>

#include "base/checksum.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "report/page.h"
#include "student/backward.h"
#include "student/comparison.h"
#include "student/evaluation_text.h"
#include "student/pair_scorer.h"
#include "student/stage.h"
#include "student/stages.h"
#include "student/taught_text.h"
#include "student/training.h"
#include "train/run_lock.h"
#include "train/task.h"
#include "train/training_device.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

struct Making {
  const StudentRecipe& recipe;
  const std::string& folder;
  Processes& processes;
};

// What the first process sees is what counts: the others must not remove its work because they see other files.
void check_same_inputs(Processes& processes, const char* name, const ordered_json& inputs) {
  const std::string own = json_text(inputs);
  const auto same = static_cast<char>(processes.broadcast(own) == own);
  if (std::ranges::count(processes.gather(same), '\0') == 0) return;
  if (!processes.first()) throw Error("");
  throw Error(
      "processes have different inputs for the stage {}: the recipe, and the files and models that it names, "
      "must be the same for all of them",
      name);
}

// Collective. The first process alone opens the stage, which may remove what was made of other inputs.
Stage open_stage(const Making& making, const char* name, const ordered_json& inputs) {
  Processes& processes = making.processes;
  check_same_inputs(processes, name, inputs);
  std::optional<Stage> stage;
  if (processes.first()) stage.emplace(making.folder, name, inputs);
  const std::string record = processes.broadcast(stage ? json_text(stage->record()) : "");
  if (!stage) stage = Stage::opened_by_another(making.folder, name, parse_json<ordered_json>(record));
  log_info("stage {}{}", name, stage->is_done() ? ": as it was" : "");
  return *std::move(stage);
}

// Collective, at the end of a stage: the others wait for the first process, which alone reports.
ordered_json report_of(const Making& making, const Stage& stage) {
  making.processes.gather('\0');
  return making.processes.first() ? stage.report() : ordered_json();
}

// --- clean ------------------------------------------------------------------------------------------

void do_clean(const StudentRecipe& recipe, const CleanCorpus& files, const LanguageIdentifier* identifier,
              Stage& stage) {
  const DataConfig& data = recipe.training.data;
  const TrainingConfig& training = recipe.training.training;
  const CleaningModels& models = recipe.cleaning_models;
  CleaningSettings settings = {.rules = recipe.cleaning,
                               .from = data.from,
                               .to = data.to,
                               .identifier = identifier,
                               .threads = thread_count(training, single_process())};
  std::optional<dragoman::Translator> model;
  if (!models.score_model.empty()) {
    model.emplace(models.score_model,
                  dragoman::TranslatorSettings{.device = training.device, .threads = settings.threads});
    settings.scorer = pair_scorer_of(*model, models.backward, data.from, data.to);
  }
  clean_corpus(data, settings, files, stage);
}

// The others wait for the first process.
ordered_json clean_stage(const Making& making, const LanguageIdentifier* identifier) {
  Stage stage = open_stage(making, "clean", clean_inputs(making.recipe));
  if (!stage.is_done() && making.processes.first())
    do_clean(making.recipe, clean_files(making.folder), identifier, stage);
  return report_of(making, stage);
}

// --- validation -------------------------------------------------------------------------------------

void validation_stage(const Making& making) {
  if (!has_validation_files(making.recipe.training.data)) return;
  Stage stage = open_stage(making, "validation", validation_inputs(making.recipe));
  run_on_first(making.processes, [&] {
    if (!stage.is_done()) write_validation_text(making.recipe, validation_text(making.folder), stage);
  });
}

// --- backward ---------------------------------------------------------------------------------------

ordered_json backward_stage(const Making& making) {
  const StudentConfig& c = making.recipe.student;
  if (c.backward.empty()) return nullptr;
  const BackTranslations files = backward_files(making.recipe, making.folder);
  Stage stage = open_stage(making, "backward", backward_inputs(making.recipe));
  if (!stage.is_done()) translate_back(making.recipe, files, stage, making.processes);
  ordered_json report = report_of(making, stage);
  if (c.backward_tag.empty()) return report;
  Stage tagged = open_stage(making, "tagged", tagged_inputs(making.recipe, making.folder));
  run_on_first(making.processes, [&] {
    if (!tagged.is_done()) tag_sources(c.backward_tag, files, tagged);
  });
  return report;
}

// --- taught -----------------------------------------------------------------------------------------

ordered_json taught_stage(const Making& making) {
  const StudentRecipe& recipe = making.recipe;
  Stage stage = open_stage(making, "taught", taught_inputs(recipe, making.folder));
  if (!stage.is_done())
    teach_pairs(recipe, clean_files(making.folder), taught_files(recipe, making.folder), stage,
                making.processes);
  return report_of(making, stage);
}

ordered_json monolingual_stage(const Making& making) {
  const StudentRecipe& recipe = making.recipe;
  if (recipe.student.monolingual.empty()) return nullptr;
  Stage stage = open_stage(making, "monolingual", monolingual_inputs(recipe));
  if (!stage.is_done())
    teach_monolingual(recipe, monolingual_files(recipe, making.folder), stage, making.processes);
  return report_of(making, stage);
}

// --- student, tuned, int8 ---------------------------------------------------------------------------

void student_stage(const Making& making, const Recipe& training) {
  Stage stage = open_stage(making, "student", student_inputs(training));
  if (!stage.is_done() || stage.report().value("limits", ordered_json()) != limits_of(training))
    train_student(training, stage, making.processes);
  making.processes.gather('\0');
}

void tuned_stage(const Making& making, const Recipe& training) {
  const int64_t steps = making.recipe.student.int8_steps;
  if (steps == 0) return;
  const Recipe tuning = tuning_recipe(training, steps);
  Stage stage = open_stage(making, "tuned", tuned_inputs(tuning, making.folder));
  if (!stage.is_done()) tune_student(tuning, making.folder + "/student", stage, making.processes);
  making.processes.gather('\0');
}

ComparisonSettings comparison_on(const Making& making, std::vector<TextPair> pairs) {
  const DataConfig& data = making.recipe.training.data;
  return {.test = std::move(pairs),
          .from = data.from,
          .to = data.to,
          .device = making.recipe.training.training.device,
          .threads = thread_count(making.recipe.training.training, single_process())};
}

std::vector<TextPair> pairs_for_validation(const DataConfig& data) {
  return read_pairs(validation_sources(data), data.swap);
}

// Of the first process, as what follows.
ordered_json int8_stage(const Making& making, const Recipe& training) {
  Stage stage(making.folder, "int8", int8_inputs(making.recipe, training, making.folder));
  log_info("stage int8{}", stage.is_done() ? ": as it was" : "");
  if (!stage.is_done())
    quantize_student(making.folder + "/student",
                     making.recipe.student.int8_steps > 0 ? making.folder + "/tuned" : "",
                     comparison_on(making, pairs_for_validation(training.data)), stage);
  return stage.report();
}

// --- comparison -------------------------------------------------------------------------------------

std::vector<TextPair> test_set(const StudentRecipe& recipe, const Recipe& training) {
  return recipe.student.test_source.empty() ? pairs_for_validation(training.data) : read_test_files(recipe);
}

std::string joined(const std::vector<TextPair>& pairs) {
  std::string text;
  for (const TextPair& pair : pairs) text += pair.source + "\n" + pair.target + "\n";
  return text;
}

// For people; the stage's record has the same for programs.
void write_page(const ordered_json& stages, const std::string& path) {
  write_file(path, {page_with_data("student.html",
                                   {"palette.css", "dark.css", "base.css", "student.css", "page.js",
                                    "numbers.js", "student.js"},
                                   stages)});
}

// Of what the other stages report.
ordered_json compare_all(const Making& making, const Recipe& training, ordered_json stages) {
  const std::vector<TextPair> test = test_set(making.recipe, training);
  const std::vector<ComparedModel> models = {{"teacher", making.recipe.student.teacher},
                                             {"student", {making.folder + "/student"}},
                                             {"student, int8", {making.folder + "/int8"}}};
  const DataConfig& data = making.recipe.training.data;
  ordered_json inputs = {{"test", checksum_of(joined(test))}, {"languages", {data.from, data.to}}};
  for (const ComparedModel& model : models) inputs[model.name] = models_checksum(model.folders);
  Stage stage(making.folder, "comparison", std::move(inputs));
  if (!stage.is_done()) {
    const ordered_json comparison = compare(models, comparison_on(making, test));
    stages["comparison"] = comparison;
    write_page(stages, stage.path("index.html"));
    stage.finish(comparison);
  }
  stages["comparison"] = stage.report();
  return stages;
}

}  // namespace

ordered_json make_student(const StudentRecipe& recipe, const std::string& folder, Processes& processes,
                          const LanguageIdentifier* identifier) {
  const Making making = {recipe, folder, processes};
  std::optional<RunLock> lock;
  if (processes.first()) lock.emplace(folder);
  use_training_device(processes, recipe.training.training);
  ordered_json stages = {{"clean", clean_stage(making, identifier)}};
  validation_stage(making);
  if (const ordered_json backward = backward_stage(making); !backward.is_null())
    stages["backward"] = backward;
  stages["taught"] = {{"parallel", taught_stage(making)}};
  if (const ordered_json further = monolingual_stage(making); !further.is_null()) {
    stages["clean"]["monolingual"] = further.at("text");
    stages["taught"]["monolingual"] = further.at("taught");
  }
  const Recipe training = training_recipe(recipe, folder);
  student_stage(making, training);
  tuned_stage(making, training);
  run_on_first(processes, [&] {
    stages["int8"] = int8_stage(making, training);
    stages = compare_all(making, training, std::move(stages));
  });
  return processes.first() ? stages : ordered_json();
}

}  // namespace dragoman::internal
