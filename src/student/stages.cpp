#include "student/stages.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/json.h"
#include "model/folder.h"
#include "student/stage.h"
#include "student/teaching.h"
#include "text/vocabulary_checksums.h"
#include "train/run_checks.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

// Options whose texts are names of files and folders.
bool names_files(const Option& option) {
  static const std::set<std::string> keys = {"data.source",       "data.target",      "data.valid_source",
                                             "data.valid_target", "data.terms",       "vocabulary.from",
                                             "clean.detector",    "clean.score_model"};
  return keys.contains(option.key());
}

// Without names of files, whose contents count, and without those that say what the program does where it has no such
// option: a later version's new ones change nothing.
template <class AnyRecipe>
ordered_json values_of(const AnyRecipe& recipe, const std::function<bool(const Option&)>& belongs) {
  AnyRecipe copy = recipe, fresh;
  Options options, defaults;
  declare(options, copy);
  declare(defaults, fresh);
  ordered_json values = ordered_json::object();
  for (size_t i = 0; i < options.all().size(); ++i) {
    const Option &option = options.all()[i], &other = defaults.all()[i];
    if (belongs(option) && !names_files(option) &&
        option.get() != other.historical_default.value_or(other.default_value))
      values[option.key()] = to_text(option.get());
  }
  return values;
}

// The options that decide what a run computes; or those that may change while it goes on.
ordered_json options_of(const Recipe& recipe, bool may_change) {
  return values_of(recipe, [&](const Option& option) { return option.may_change_on_resume == may_change; });
}

// How often an epoch must have each pair that was translated back, for their share of all to be the wanted one.
double backward_weight(double share, int64_t pairs, int64_t others) {
  if (pairs == 0) return 1;
  return share / (1 - share) * static_cast<double>(others) / static_cast<double>(pairs);
}

void add_back_translations(const BackTranslations& back, double share, int64_t others, DataConfig& data) {
  data.source.push_back(back.source);
  data.target.push_back(back.target);
  data.weights.push_back(backward_weight(share, count_lines(back.source), others));
}

// An epoch has each source once, with one of its translations: sources whose weights add up to 1 share the draw.
void add_taught(const std::string& source, const std::vector<std::string>& taught, DataConfig& data) {
  for (const std::string& target : taught) {
    data.source.push_back(source);
    data.target.push_back(target);
    data.weights.push_back(1.0 / static_cast<double>(taught.size()));
  }
}

std::vector<std::string> numbered(const std::string& path, int64_t count) {
  std::vector<std::string> files = {path};
  for (int64_t i = 2; i <= count; ++i) files.push_back(fmt::format("{}-{}", path, i));
  return files;
}

std::vector<std::string> validation_files(const DataConfig& data) {
  std::vector<std::string> files = data.valid_source;
  files.insert(files.end(), data.valid_target.begin(), data.valid_target.end());
  return files;
}

ordered_json languages_of(const StudentRecipe& recipe) {
  return {recipe.training.data.from, recipe.training.data.to};
}

// Of a stage in which the teacher translates.
ordered_json teaching_inputs(const StudentRecipe& recipe, const std::vector<std::string>& files) {
  const StudentConfig& c = recipe.student;
  return {{"teacher", models_checksum(c.teacher)},
          {"languages", languages_of(recipe)},
          {"files", file_checksums(files)},
          {"beam", c.beam},
          {"candidates", c.candidates},
          {"translations", c.taught_translations()}};
}

}  // namespace

CleanCorpus clean_files(const std::string& folder) {
  const std::string clean = folder + "/clean";
  return {.source = clean + "/source",
          .target = clean + "/target",
          .valid_source = clean + "/held-out.source",
          .valid_target = clean + "/held-out.target"};
}

ValidationText validation_text(const std::string& folder) {
  return {.source = folder + "/validation/source", .target = folder + "/validation/target"};
}

BackTranslations backward_files(const StudentRecipe& recipe, const std::string& folder) {
  if (recipe.student.backward.empty()) return {};
  const std::string backward = folder + "/backward";
  const bool tagged = !recipe.student.backward_tag.empty();
  return {.target = backward + "/target",
          .translated = backward + "/translated",
          .source = tagged ? folder + "/tagged/source" : backward + "/translated"};
}

std::vector<std::string> taught_files(const StudentRecipe& recipe, const std::string& folder) {
  return numbered(folder + "/taught/parallel", recipe.student.taught_translations());
}

MonolingualText monolingual_files(const StudentRecipe& recipe, const std::string& folder) {
  if (recipe.student.monolingual.empty()) return {};
  return {.source = folder + "/monolingual/source",
          .taught = numbered(folder + "/monolingual/taught", recipe.student.taught_translations())};
}

Recipe training_recipe(const StudentRecipe& recipe, const std::string& folder) {
  const CleanCorpus corpus = clean_files(folder);
  const MonolingualText further = monolingual_files(recipe, folder);
  Recipe training = recipe.training;
  DataConfig& data = training.data;
  data.source.clear();
  data.target.clear();
  data.tsv.clear();
  data.weights.clear();
  data.format = TextFormat::automatic;
  data.limit = 0;
  add_taught(corpus.source, taught_files(recipe, folder), data);
  add_taught(further.source, further.taught, data);
  if (!recipe.student.backward.empty()) {
    const int64_t taught_sources =
        count_lines(corpus.source) + (further.source.empty() ? 0 : count_lines(further.source));
    add_back_translations(backward_files(recipe, folder), recipe.student.backward_share, taught_sources,
                          data);
  }
  if (data.hold_out > 0) {
    data.valid_source = {corpus.valid_source};
    data.valid_target = {corpus.valid_target};
    data.hold_out = 0;
  } else if (has_validation_files(data)) {
    const ValidationText files = validation_text(folder);
    data.valid_source = {files.source};
    data.valid_target = {files.target};
  }
  data.swap = false;
  return training;
}

// The weights are where a long training left them: a small rate moves them no farther than rounding asks for.
Recipe tuning_recipe(Recipe training, int64_t steps) {
  TrainingConfig& c = training.training;
  c.weights = TrainedWeights::int8;
  c.optimizer = Optimizer::adam;
  c.schedule = Schedule::constant;
  c.learning_rate = 1e-4;
  c.cooldown = 0;
  c.max_steps = steps;
  c.max_epochs = 0;
  c.max_minutes = 0;
  c.average_last = 0;
  training.validation.every = steps;
  training.validation.every_minutes = 0;
  training.validation.patience = 0;
  training.checkpoints.every = 100;
  return training;
}

ordered_json models_checksum(const std::vector<std::string>& folders) {
  ordered_json checksums = ordered_json::array();
  for (const std::string& folder : folders) checksums.push_back(model_checksum(folder));
  return checksums;
}

void rename_files_of_run(const Recipe& recipe, const std::string& folder) {
  if (!std::filesystem::exists(folder + "/config.json")) return;
  const nlohmann::json before = read_config(folder), ours = recipe_json(recipe);
  if (!before.contains("recipe")) return;
  nlohmann::json config = before;
  Recipe copy = recipe;
  Options options;
  declare(options, copy);
  for (const Option& option : options.all())
    if (names_files(option))
      config["recipe"][option.section][option.name] = ours.at(option.section).at(option.name);
  if (config != before) write_file(folder + "/config.json", {json_text(config, 1)});
}

ordered_json clean_inputs(const StudentRecipe& recipe) {
  const DataConfig& data = recipe.training.data;
  const CleaningModels& models = recipe.cleaning_models;
  ordered_json inputs = {{"files", file_checksums(files_of(data))},
                         {"rules", values_of(recipe, [](const Option& o) { return o.section == "clean"; })},
                         {"languages", {data.from, data.to}},
                         {"swap", data.swap},
                         {"limit", data.limit},
                         {"hold_out", data.hold_out},
                         {"format", static_cast<int>(data.format)}};
  if (!models.detector.empty()) inputs["detector"] = file_checksum(models.detector);
  if (!models.score_model.empty()) inputs["score_model"] = model_checksum(models.score_model);
  return inputs;
}

ordered_json validation_inputs(const StudentRecipe& recipe) {
  const DataConfig& data = recipe.training.data;
  return {{"files", file_checksums(validation_files(data))},
          {"swap", data.swap},
          {"format", static_cast<int>(data.format)}};
}

ordered_json backward_inputs(const StudentRecipe& recipe) {
  const StudentConfig& c = recipe.student;
  return {{"models", models_checksum(c.backward)},
          {"languages", languages_of(recipe)},
          {"files", file_checksums(c.monolingual_target)}};
}

ordered_json tagged_inputs(const StudentRecipe& recipe, const std::string& folder) {
  return {{"files", file_checksums({backward_files(recipe, folder).translated})},
          {"tag", recipe.student.backward_tag}};
}

ordered_json taught_inputs(const StudentRecipe& recipe, const std::string& folder) {
  const CleanCorpus corpus = clean_files(folder);
  return teaching_inputs(recipe, {corpus.source, corpus.target});
}

ordered_json monolingual_inputs(const StudentRecipe& recipe) {
  return teaching_inputs(recipe, recipe.student.monolingual);
}

ordered_json student_inputs(const Recipe& training) {
  const DataConfig& data = training.data;
  std::vector<std::string> read = data.source;
  read.erase(std::unique(read.begin(), read.end()), read.end());  // one file for each of its translations
  read.insert(read.end(), data.target.begin(), data.target.end());
  for (const std::string& file : validation_files(data)) read.push_back(file);
  ordered_json inputs = {{"files", file_checksums(read)}, {"options", options_of(training, false)}};
  if (!data.terms.empty()) inputs["terms"] = file_checksum(data.terms);
  if (const std::string& from = training.vocabulary.from; !from.empty())
    inputs["vocabulary"] = vocabulary_checksums(from);
  return inputs;
}

ordered_json limits_of(const Recipe& training) { return options_of(training, true); }

ordered_json tuned_inputs(const Recipe& tuning, const std::string& folder) {
  return {{"student", model_checksum(folder + "/student")},
          {"run", student_inputs(tuning)},
          {"steps", tuning.training.max_steps}};
}

ordered_json int8_inputs(const StudentRecipe& recipe, const Recipe& training, const std::string& folder) {
  ordered_json inputs = {{"student", model_checksum(folder + "/student")}};
  if (recipe.student.int8_steps > 0) {
    inputs["tuned"] = model_checksum(folder + "/tuned");
    inputs["validation"] = file_checksums(validation_files(training.data));
  }
  return inputs;
}

DoneStages done_stages(const StudentRecipe& recipe, const std::string& folder) {
  DoneStages done;
  const auto is_done = [&](const char* name, const ordered_json& inputs) {
    return !report_of_stage(folder, name, inputs).is_null();
  };
  if (!std::filesystem::exists(folder + "/stages")) return done;
  done.clean = is_done("clean", clean_inputs(recipe));
  done.validation =
      !has_validation_files(recipe.training.data) || is_done("validation", validation_inputs(recipe));
  const StudentConfig& c = recipe.student;
  done.backward = c.backward.empty() || is_done("backward", backward_inputs(recipe));
  const bool is_tagged = !c.backward.empty() && !c.backward_tag.empty();
  done.tagged = done.backward && (!is_tagged || is_done("tagged", tagged_inputs(recipe, folder)));
  done.taught = done.clean && is_done("taught", taught_inputs(recipe, folder));
  done.monolingual = c.monolingual.empty() || is_done("monolingual", monolingual_inputs(recipe));
  if (!done.validation || !done.tagged || !done.taught || !done.monolingual) return done;
  const Recipe training = training_recipe(recipe, folder);
  const ordered_json report = report_of_stage(folder, "student", student_inputs(training));
  done.student = !report.is_null() && report.at("limits") == limits_of(training);
  if (!done.student) return done;
  const int64_t steps = c.int8_steps;
  done.tuned = steps == 0 || is_done("tuned", tuned_inputs(tuning_recipe(training, steps), folder));
  done.int8 = done.tuned && is_done("int8", int8_inputs(recipe, training, folder));
  return done;
}

}  // namespace dragoman::internal
