#include "student/student.h"

#include <filesystem>

#include "base/checksum.h"
#include "base/files.h"
#include "base/log.h"
#include "base/threads.h"
#include "data/lexicon.h"
#include "data/prepare_corpus.h"
#include "dragoman/models.h"
#include "dragoman/translator.h"
#include "model/folder.h"
#include "report/page.h"
#include "search/shortlist.h"
#include "student/comparison.h"
#include "student/corpus.h"
#include "student/stage.h"
#include "student/teaching.h"
#include "train/run.h"
#include "train/run_checks.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

int thread_count(const TrainingConfig& training) {
  return training.threads > 0 ? static_cast<int>(training.threads) : available_threads();
}

ordered_json models_checksum(const std::vector<std::string>& folders) {
  ordered_json checksums = ordered_json::array();
  for (const std::string& folder : folders) checksums.push_back(model_checksum(folder));
  return checksums;
}

// --- clean ------------------------------------------------------------------------------------------

// Languages are checked by their scripts alone: what tells more is a file of its own, for dragoman clean --detector.
CleaningSettings cleaning_settings(const StudentRecipe& recipe) {
  const DataConfig& data = recipe.training.data;
  return {.rules = recipe.cleaning,
          .from = data.from,
          .to = data.to,
          .threads = thread_count(recipe.training.training)};
}

Stage clean_stage(const StudentRecipe& recipe, const std::string& folder) {
  StudentRecipe copy = recipe;
  Options options;
  declare(options, copy);
  const DataConfig& data = recipe.training.data;
  return {folder,
          "clean",
          {{"files", file_checksums(files_of(data, recipe.student.monolingual))},
           {"rules", options.to_json().at("clean")},
           {"languages", {data.from, data.to}},
           {"swap", data.swap},
           {"limit", data.limit},
           {"hold_out", data.hold_out},
           {"format", static_cast<int>(data.format)}}};
}

// --- taught -----------------------------------------------------------------------------------------

struct Taught {
  std::string parallel, monolingual;  // the teacher's translations of the clean stage's files
};

Stage taught_stage(const StudentRecipe& recipe, const CleanCorpus& corpus, const std::string& folder) {
  std::vector<std::string> read = {corpus.source, corpus.target};
  if (!corpus.monolingual.empty()) read.push_back(corpus.monolingual);
  const StudentConfig& c = recipe.student;
  return {folder,
          "taught",
          {{"teacher", models_checksum(recipe.student.teacher)},
           {"files", file_checksums(read)},
           {"beam", c.beam},
           {"candidates", c.candidates}}};
}

ordered_json report_of(const TaughtLines& lines) {
  return {{"lines", lines.lines}, {"left_out", lines.left_out}, {"seconds", lines.seconds}};
}

Taught teach_all(const StudentRecipe& recipe, const CleanCorpus& corpus, Stage& stage) {
  const Taught taught = {.parallel = stage.path("parallel"),
                         .monolingual = corpus.monolingual.empty() ? "" : stage.path("monolingual")};
  if (stage.is_done()) return taught;
  dragoman::Translator teacher(recipe.student.teacher, {.device = recipe.training.training.device,
                                                        .threads = thread_count(recipe.training.training),
                                                        .precision = dragoman::Precision::int8});
  const dragoman::Options search = {{"beam", recipe.student.beam}};
  const int64_t candidates = recipe.student.candidates;
  ordered_json report = {
      {"parallel",
       report_of(teach(teacher, search, candidates,
                       {.source = corpus.source, .reference = corpus.target, .out = taught.parallel}))}};
  if (!taught.monolingual.empty())
    report["monolingual"] = report_of(teach(
        teacher, search, 1, {.source = corpus.monolingual, .reference = "", .out = taught.monolingual}));
  stage.finish(std::move(report));
  return taught;
}

// --- student ----------------------------------------------------------------------------------------

Recipe training_recipe(const StudentRecipe& recipe, const CleanCorpus& corpus, const Taught& taught) {
  Recipe training = recipe.training;
  DataConfig& data = training.data;
  data.source = {corpus.source};
  data.target = {taught.parallel};
  if (!corpus.monolingual.empty()) {
    data.source.push_back(corpus.monolingual);
    data.target.push_back(taught.monolingual);
  }
  data.tsv.clear();
  data.weights.clear();
  data.format = TextFormat::text;
  data.swap = false;
  data.limit = 0;
  if (data.hold_out > 0) {
    data.valid_source = {corpus.valid_source};
    data.valid_target = {corpus.valid_target};
    data.hold_out = 0;
  }
  return training;
}

// The options that decide what a run computes; or those that may change while it goes on, such as its length.
ordered_json options_of(const Recipe& recipe, bool may_change) {
  Recipe copy = recipe;
  Options options;
  declare(options, copy);
  ordered_json values = ordered_json::object();
  for (const Option& option : options.all())
    if (option.may_change_on_resume == may_change) values[option.key()] = to_text(option.get());
  return values;
}

Stage student_stage(const Recipe& training, const std::string& folder) {
  const DataConfig& data = training.data;
  std::vector<std::string> read = data.source;
  for (const auto* files : {&data.target, &data.valid_source, &data.valid_target})
    read.insert(read.end(), files->begin(), files->end());
  return {folder, "student", {{"files", file_checksums(read)}, {"options", options_of(training, false)}}};
}

void add_shortlist(const std::string& folder, int threads) {
  const PreparedCorpus corpus = prepared_corpus(prepared_folder(folder), threads);
  write_shortlist(folder, learn_lexicon(corpus, {}, threads), corpus.vocabularies);
}

void train_student(const Recipe& training, Stage& stage) {
  const ordered_json limits = options_of(training, true);
  if (stage.is_done() && stage.report().at("limits") == limits) return;
  int64_t steps = 0;
  {
    Run run(training, {.folder = stage.folder()});
    run.train();
    steps = run.steps();
  }
  add_shortlist(stage.folder(), thread_count(training.training));
  stage.finish({{"steps", steps}, {"limits", limits}});
}

// --- int8 -------------------------------------------------------------------------------------------

// How a student is used where nothing else is said: its teacher has chosen among many translations already, so that a
// beam adds little to what the student has learned.
void set_search(const std::string& folder) {
  nlohmann::json config = read_config(folder);
  config["search"]["beam"] = 1;
  config["search"]["shortlist"] = true;
  write_file(folder + "/config.json", {config.dump(1), "\n"});
}

void quantize_student(const std::string& student, Stage& stage) {
  if (stage.is_done()) return;
  std::filesystem::remove_all(stage.folder());
  dragoman::quantize(student, dragoman::Precision::int8, stage.folder());
  set_search(stage.folder());
  stage.finish(
      {{"megabytes", static_cast<double>(std::filesystem::file_size(weights_path(stage.folder()))) * 1e-6}});
}

// --- comparison -------------------------------------------------------------------------------------

std::vector<TextPair> test_set(const StudentRecipe& recipe, const Recipe& training) {
  DataConfig data = training.data;
  if (!recipe.student.test_source.empty()) {
    data.valid_source = recipe.student.test_source;
    data.valid_target = recipe.student.test_target;
  }
  DroppedPairs left_out;
  return read_pairs(validation_sources(data), data.swap, left_out);
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
ordered_json compare_all(const StudentRecipe& recipe, const Recipe& training, const std::string& folder,
                         ordered_json stages) {
  const std::vector<TextPair> test = test_set(recipe, training);
  const std::vector<ComparedModel> models = {{"teacher", recipe.student.teacher},
                                             {"student", {folder + "/student"}},
                                             {"student, int8", {folder + "/int8"}}};
  ordered_json inputs = {{"test", checksum_of(joined(test))}};
  for (const ComparedModel& model : models) inputs[model.name] = models_checksum(model.folders);
  Stage stage(folder, "comparison", std::move(inputs));
  if (!stage.is_done()) {
    const ordered_json comparison = compare(
        models,
        {.test = test, .device = training.training.device, .threads = thread_count(training.training)});
    stages["comparison"] = comparison;
    write_page(stages, stage.path("index.html"));
    stage.finish(comparison);
  }
  stages["comparison"] = stage.report();
  return stages;
}

void say(const char* name, const Stage& stage) {
  log_info("stage {}{}", name, stage.is_done() ? ": as it was" : "");
}

}  // namespace

ordered_json make_student(const StudentRecipe& recipe, const std::string& folder) {
  Stage clean = clean_stage(recipe, folder);
  say("clean", clean);
  const CleanCorpus corpus =
      clean_corpus(recipe.training.data, cleaning_settings(recipe), recipe.student.monolingual, clean);
  Stage teaching = taught_stage(recipe, corpus, folder);
  say("taught", teaching);
  const Taught taught = teach_all(recipe, corpus, teaching);
  const Recipe training = training_recipe(recipe, corpus, taught);
  Stage student = student_stage(training, folder);
  say("student", student);
  train_student(training, student);
  Stage int8(folder, "int8", {{"student", model_checksum(student.folder())}});
  say("int8", int8);
  quantize_student(student.folder(), int8);
  return compare_all(recipe, training, folder, {{"clean", clean.report()}, {"taught", teaching.report()}});
}

}  // namespace dragoman::internal
