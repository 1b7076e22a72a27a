#include "train/run_store.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <span>

#include "base/build.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/quotes.h"
#include "data/synthetic.h"
#include "kernels/devices.h"
#include "model/folder.h"
#include "model/weights.h"
#include "text/vocabulary_checksums.h"
#include "train/averaging.h"
#include "train/run_checks.h"
#include "train/run_model.h"

namespace dragoman::internal {
namespace {

// A run that ends because the disk refuses loses nothing but time.
[[noreturn]] void stop_unsaved(const Error& error) {
  throw Error("{}; make room or repair the disk, and run the same command to resume", error.what());
}

// How a model is searched by default, without its languages: those are the recipe's. Null if nothing says so.
nlohmann::json search_defaults(const std::string& folder) {
  if (!std::filesystem::exists(folder + "/config.json")) return {};
  const nlohmann::json config = read_config(folder);
  if (!config.contains("search")) return {};
  nlohmann::json search = config["search"];
  for (const char* language : {"from", "to"}) search.erase(language);
  return search;
}

}  // namespace

RunStore::RunStore(const std::string& folder, int64_t keep_checkpoints, const Processes& processes)
    : folder_(folder),
      writes_(processes.first()),
      processes_(processes.count()),
      lock_(writes_ ? std::make_unique<RunLock>(folder) : nullptr),
      checkpoints_(folder + "/checkpoints", keep_checkpoints) {}

void RunStore::write_config(const Recipe& recipe, const nlohmann::json& facts,
                            const std::string& instruction_set, const std::string& init_from,
                            bool resumes) const {
  if (!writes_) return;
  nlohmann::json config = {
      {"format", 1},
      {"model", to_json(recipe.model)},
      {"recipe", recipe_json(recipe)},
      {"given", recipe.given},
      {"vocabulary_checksums", vocabulary_checksums(folder_)},
      {"made_by",
       {{"build", build_name()}, {"instruction_set", instruction_set}, {"processes", processes_}}}};
  if (!init_from.empty()) config["init_from"] = init_from;
  const std::string& searched_as = init_from.empty() || resumes ? folder_ : init_from;
  if (const auto search = search_defaults(searched_as); !search.is_null()) config["search"] = search;
  if (facts.contains("several_sentences"))
    config["data"] = {{"several_sentences", facts["several_sentences"]}};
  if (recipe.data.synthetic != Synthetic::none)
    config["marks"] = {{"start", SyntheticTask::start}, {"end", SyntheticTask::end}};
  write_file(folder_ + "/config.json", {json_text(config, 1)});
}

std::string RunStore::init_from() const {
  return std::filesystem::exists(folder_ + "/config.json") ? read_config(folder_).value("init_from", "") : "";
}

// --- history ----------------------------------------------------------------------------------------

void RunStore::start_history() {
  if (!writes_) return;
  log_ = std::make_unique<MetricsLog>(folder_ + "/metrics.jsonl");
  board_ = std::make_unique<TensorBoardWriter>(folder_ + "/tensorboard");
}

void RunStore::cut_history(int64_t bytes, int64_t first_step) {
  if (!writes_) return;
  if (log_) {
    log_->cut(bytes, "divergence");
  } else {
    log_ = std::make_unique<MetricsLog>(folder_ + "/metrics.jsonl", bytes);
  }
  board_.reset();
  board_ = std::make_unique<TensorBoardWriter>(folder_ + "/tensorboard", first_step);
}

void RunStore::log(const std::string& event, int64_t step, const nlohmann::ordered_json& values) {
  if (!writes_) return;
  log_->write(event, step, values);
  if (event != "train" && event != "validation") return;
  for (const auto& [name, value] : values.items()) {
    if (value.is_number_float()) board_->scalar(event + "/" + name, step, value);
  }
}

void RunStore::log(const UpdateReport& report) { log("train", report.step, event_values(report)); }

void RunStore::log(const ValidationReport& report) {
  if (!writes_ || !report.loss) return;
  log("validation", report.step, event_values(report));
  for (size_t i = 0; i < report.samples.size(); ++i) {
    const ValidationSample& sample = report.samples[i];
    board_->text(fmt::format("sample/{}", i + 1), report.step, sample.translation);
    log("sample", report.step,
        {{"source", sample.source}, {"reference", sample.reference}, {"translation", sample.translation}});
  }
}

// --- checkpoints ------------------------------------------------------------------------------------

void RunStore::save(const Trainer& trainer, const RunState& state, CheckpointReason reason) {
  try {
    write_checkpoint(trainer, state, reason);
  } catch (const Error& error) {
    stop_unsaved(error);
  }
}

void RunStore::try_to_save(const Trainer& trainer, const RunState& state, CheckpointReason reason) {
  if (failed_step_ == trainer.steps()) return;
  try {
    write_checkpoint(trainer, state, reason);
  } catch (const Error& error) {
    failed_step_ = trainer.steps();
    log_warning("{}; training continues", error.what());
    log("checkpoint", trainer.steps(), {{"failed", error.what()}});
  }
}

// One on schedule serves to resume from, too. Where the best weights of an earlier step are nowhere on the disk, a
// checkpoint would lead to an end without them: they come first.
void RunStore::write_checkpoint(const Trainer& trainer, const RunState& state, CheckpointReason reason) {
  const int64_t step = trainer.steps(), best_step = state.validations.best_step;
  const bool saved = saved_step_ == step && (saved_reason_ == reason || reason == CheckpointReason::extra);
  if (!writes_ || saved) return;
  if (!unwritten_best_.empty() && best_step != step) {
    write_run_model(folder_, trainer.model().parameters, unwritten_best_,
                    model_of_step(best_step, saved_step_ >= 0));
    unwritten_best_.clear();
  }
  log_->flush();
  const nlohmann::json content = {{"state", state.to_json()},
                                  {"metrics_bytes", log_->bytes()},
                                  {"model", to_json(trainer.model().config)},
                                  {"corpus", corpus_},
                                  {"build", build_name()},
                                  {"instruction_set", device_name(trainer.model().device.kernels)},
                                  {"processes", processes_}};
  trainer.save(checkpoints_, content, reason, best_step);
  saved_step_ = step;
  saved_reason_ = reason;
  checkpoints_.remove_after(step);
  checkpoints_.prune();
}

void RunStore::load(const CheckpointInfo& checkpoint, Trainer& trainer, RunState& state) {
  const nlohmann::json saved = Checkpoints::read_state(checkpoint);
  check_fits_checkpoint(saved, checkpoint.path, trainer.model().config, corpus_);
  trainer.restore(checkpoint);
  try {
    state.from_json(saved.at("state"));
    if (!state.validations.by) state.validations.by = saved_best_by(folder_);
    cut_history(integer_at(saved, "metrics_bytes"), checkpoint.step + 1);
    warn_if_bits_change(saved, trainer, state);
  } catch (const nlohmann::json::exception& error) {
    throw Error("{}/state.json was not written by this version: {}", checkpoint.path, reason_of(error));
  }
  saved_step_ = checkpoint.step;
  saved_reason_ = checkpoint.reason;
  failed_step_ = -1;
  unwritten_best_.clear();
}

// What the bits depend on besides the recipe.
void RunStore::warn_if_bits_change(const nlohmann::json& saved, const Trainer& trainer,
                                   const RunState& state) const {
  const int processes = saved.value("processes", 1);
  const std::string build = saved.value("build", build_name());
  std::string before = saved.at("instruction_set"), now = device_name(trainer.model().device.kernels);
  if (build != build_name()) {
    before += fmt::format(" (build {})", build);
    now += fmt::format(" (build {})", build_name());
  }
  if (processes != processes_) {
    before += fmt::format(" with {} processes", processes);
    now += fmt::format(" with {}", processes_);
  }
  if (before == now) return;
  log_warning(
      "this run used {} and resumes on {}: an update still has {} batches, but the weights may differ in "
      "their last bits from those of an uninterrupted run",
      before, now, state.batches_per_update);
}

void RunStore::remove_later(int64_t step) {
  if (writes_ && saved_step_ == step) checkpoints_.remove_after(step);
}

void RunStore::restart_history() {
  saved_step_ = -1;
  unwritten_best_.clear();
  if (writes_) cut_history(metrics_bytes_until(folder_ + "/metrics.jsonl", 0), 1);
}

// --- the model --------------------------------------------------------------------------------------

// The checkpoint comes first: it keeps the best weights, too, whatever happens to the model's file later.
void RunStore::keep_if_best(const Trainer& trainer, const RunState& state) {
  const int64_t step = trainer.steps();
  if (!writes_ || state.validations.best_step != step) return;
  unwritten_best_.clear();
  try_to_save(trainer, state, CheckpointReason::extra);
  const HostView<const float> weights(trainer.model().device.memory, trainer.weights_for_use());
  try {
    write_run_model(folder_, trainer.model().parameters, weights.span(),
                    model_of_step(step, saved_step_ >= 0));
  } catch (const Error& error) {
    if (saved_step_ != step) unwritten_best_.assign(weights.begin(), weights.end());
    log_warning("{}; training continues", error.what());
  }
}

// The model does not wait for room for a checkpoint, which is larger; an average needs that checkpoint, however. In the
// end memory holds the model, perhaps of another step, and nothing more may be saved.
void RunStore::finish(Trainer& trainer, const RunState& state, int64_t average_last) {
  if (!writes_) return;
  std::exception_ptr unsaved;
  try {
    save(trainer, state, CheckpointReason::extra);
  } catch (const Error&) {
    if (average_last > 1) throw;
    unsaved = std::current_exception();
  }
  Parameters& parameters = trainer.model().parameters;
  const RunModel wanted = average_last > 1 ? read_average(trainer, average_last)
                                           : read_best(parameters, state.validations.best_step);
  const HostView<const float> weights(parameters.memory(), parameters.weights());
  try {
    if (!has_run_model(folder_, parameters, weights.span(), wanted))
      write_run_model(folder_, parameters, weights.span(), wanted);
  } catch (const Error& error) {
    stop_unsaved(error);
  }
  if (unsaved) std::rethrow_exception(unsaved);
}

// Of the last checkpoints that an uninterrupted run has, the one of its end among them.
RunModel RunStore::read_average(Trainer& trainer, int64_t average_last) const {
  std::vector<CheckpointInfo> last = checkpoints_.list();
  std::erase_if(last, [end = trainer.steps()](const CheckpointInfo& one) {
    return one.step > end || (one.reason == CheckpointReason::extra && one.step != end);
  });
  const size_t count = std::min(last.size(), static_cast<size_t>(average_last));
  std::vector<std::string> files;
  std::vector<int64_t> steps;
  for (const CheckpointInfo& one : std::span(last).last(count)) {
    files.push_back(weights_path(one.path));
    steps.push_back(one.step);
  }
  average_weights(trainer.model().parameters, files);
  log_info("the model is the average of the last {}", counted(static_cast<int64_t>(count), "checkpoint"));
  return model_of_average(steps);
}

// The model's file may be missing, damaged or of another step, if the disk was full or the program was killed: then the
// checkpoint of the best step has the weights.
RunModel RunStore::read_best(Parameters& parameters, int64_t best_step) const {
  const RunModel wanted = model_of_step(best_step, saved_step_ >= 0);
  if (!unwritten_best_.empty()) {
    std::ranges::copy(unwritten_best_, HostView<float>(parameters.memory(), parameters.weights()).begin());
    parameters.changed();
    return wanted;
  }
  const auto checkpoint = checkpoints_.of_step(best_step);
  const std::string folder = checkpoint ? checkpoint->path : folder_;
  if (!std::filesystem::exists(weights_path(folder)))
    throw Error("{} has no model, because none could be written: run the same command again", folder_);
  const std::string step = checkpoint ? wanted.step : read_run_model(folder_).step;
  if (!step.empty() && step != wanted.step) {
    throw Error(
        "{} holds the weights of step {}, but no checkpoint has the best ones, of step {}: train longer",
        weights_path(folder_), step, best_step);
  }
  read_weights(weights_path(folder), parameters);
  return wanted;
}

}  // namespace dragoman::internal
