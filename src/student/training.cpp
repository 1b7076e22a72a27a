#include "student/training.h"

#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "data/lexicon.h"
#include "data/prepare_corpus.h"
#include "dragoman/models.h"
#include "model/folder.h"
#include "search/shortlist.h"
#include "student/stages.h"
#include "train/run.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

void add_shortlist(const std::string& folder, int threads) {
  const PreparedCorpus corpus = prepared_corpus(prepared_folder(folder), threads);
  write_shortlist(folder, learn_lexicon(corpus, {}, threads), corpus.vocabularies);
}

// The same text, which is encoded and aligned once.
void share_corpus(const std::string& student, const std::string& tuned) {
  const std::string link = prepared_folder(tuned);
  if (fs::is_symlink(link)) return;
  fs::create_directory_symlink(fs::relative(prepared_folder(student), tuned), link);
}

// How a student is used where nothing else is said: its teacher has chosen among many translations already, so that a
// beam adds little to what the student has learned.
void set_search(const std::string& folder) {
  nlohmann::json config = read_config(folder);
  config["search"]["beam"] = 1;
  config["search"]["shortlist"] = true;
  write_file(folder + "/config.json", {json_text(config, 1), "\n"});
}

void quantize_into(const std::string& folder, const std::string& model) {
  fs::remove_all(folder);
  dragoman::quantize(model, dragoman::Precision::int8, folder);
  set_search(folder);
}

}  // namespace

void train_student(const Recipe& training, Stage& stage, Processes& processes) {
  int64_t steps = 0;
  if (processes.first()) {
    stage.reopen();
    rename_files_of_run(training, stage.folder());
  }
  {
    Run run(training, {.folder = stage.folder()}, processes);
    run.train();
    steps = run.steps();
  }
  if (!processes.first()) return;
  add_shortlist(stage.folder(), thread_count(training.training, single_process()));
  stage.finish({{"steps", steps}, {"limits", limits_of(training)}});
}

void tune_student(const Recipe& tuning, const std::string& student, Stage& stage, Processes& processes) {
  if (processes.first()) {
    share_corpus(student, stage.folder());
    rename_files_of_run(tuning, stage.folder());
  }
  {
    Run run(tuning, {.folder = stage.folder(), .init_from = student}, processes);
    run.train();
  }
  if (!processes.first()) return;
  const std::string shortlist = "/shortlist.safetensors";
  fs::copy_file(student + shortlist, stage.folder() + shortlist, fs::copy_options::overwrite_existing);
  stage.finish({{"steps", tuning.training.max_steps}});
}

void quantize_student(const std::string& student, const std::string& tuned,
                      const ComparisonSettings& validation, Stage& stage) {
  nlohmann::ordered_json report = nlohmann::ordered_json::object();
  quantize_into(stage.folder(), student);
  if (!tuned.empty()) {
    const double as_it_was = bleu_of(stage.folder(), validation);
    quantize_into(stage.folder(), tuned);
    const double fine_tuned = bleu_of(stage.folder(), validation);
    const bool keeps = fine_tuned > as_it_was;
    if (!keeps) quantize_into(stage.folder(), student);
    log_info("int8: BLEU {:.2f}, fine-tuned with int8 weights {:.2f}: {} kept", as_it_was, fine_tuned,
             keeps ? "the latter is" : "the former is");
    report = {{"bleu", as_it_was}, {"bleu_tuned", fine_tuned}, {"tuned", keeps}};
  }
  report["megabytes"] = static_cast<double>(fs::file_size(weights_path(stage.folder()))) * 1e-6;
  stage.finish(std::move(report));
}

}  // namespace dragoman::internal
