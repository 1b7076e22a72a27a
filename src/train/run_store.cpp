#include "train/run_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/build.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "model/folder.h"
#include "model/weights.h"
#include "text/vocabulary_checksums.h"
#include "train/averaging.h"
#include "train/run_checks.h"

namespace dragoman::internal {
namespace {

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

RunLock::RunLock(const std::string& folder) {
  make_folder(folder);
  file_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file_ < 0 || flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(file_);
  throw Error("{} is in use by another run: wait until it ends, or choose another folder (--out)", folder);
}

RunLock::~RunLock() {
  if (file_ >= 0) close(file_);
}

RunStore::RunStore(const std::string& folder, int64_t keep_checkpoints, const Processes& processes)
    : folder_(folder),
      writes_(processes.first()),
      processes_(processes.count()),
      lock_(writes_ ? std::make_unique<RunLock>(folder) : nullptr),
      checkpoints_(folder + "/checkpoints", keep_checkpoints) {}

void RunStore::write_config(const Recipe& recipe, const std::string& instruction_set) const {
  if (!writes_) return;
  const nlohmann::json config = {
      {"format", 1},
      {"model", to_json(recipe.model)},
      {"recipe", recipe_json(recipe)},
      {"vocabulary_checksums", vocabulary_checksums(folder_)},
      {"made_by",
       {{"build", build_name()}, {"instruction_set", instruction_set}, {"processes", processes_}}}};
  write_file(folder_ + "/config.json", {config.dump(1)});
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
    const auto& [source, reference, translation] = report.samples[i];
    board_->text(fmt::format("sample/{}", i + 1), report.step, translation);
    log("sample", report.step, {{"source", source}, {"reference", reference}, {"translation", translation}});
  }
}

// --- checkpoints ------------------------------------------------------------------------------------

// One on schedule serves to resume from, too.
void RunStore::save(const Trainer& trainer, const RunState& state, CheckpointReason reason) {
  const int64_t step = trainer.steps();
  const bool saved = saved_step_ == step && (saved_reason_ == reason || reason == CheckpointReason::extra);
  if (!writes_ || saved) return;
  log_->flush();
  const nlohmann::json content = {{"state", state.to_json()},
                                  {"metrics_bytes", log_->bytes()},
                                  {"build", build_name()},
                                  {"instruction_set", trainer.model().device.kernels.name},
                                  {"processes", processes_}};
  trainer.save(checkpoints_, content, reason);
  saved_step_ = step;
  saved_reason_ = reason;
  checkpoints_.prune({state.validations.best_step, step});  // after a rollback to 0 this is not the newest
}

void RunStore::try_to_save(const Trainer& trainer, const RunState& state, CheckpointReason reason) {
  try {
    save(trainer, state, reason);
  } catch (const Error& error) {
    log_warning("{}; training continues", error.what());
    log("checkpoint", trainer.steps(), {{"failed", error.what()}});
  }
}

void RunStore::load(const CheckpointInfo& checkpoint, Trainer& trainer, RunState& state) {
  trainer.restore(checkpoint);
  const nlohmann::json saved = Checkpoints::read_state(checkpoint);
  try {
    state.from_json(saved.at("state"));
    cut_history(saved.at("metrics_bytes"), checkpoint.step + 1);
    warn_if_bits_change(saved, trainer, state);
  } catch (const nlohmann::json::exception& error) {
    throw Error("{}/state.json was not written by this version: {}", checkpoint.path, error.what());
  }
  saved_step_ = checkpoint.step;
  saved_reason_ = checkpoint.reason;
}

// What the bits depend on, beside the recipe.
void RunStore::warn_if_bits_change(const nlohmann::json& saved, const Trainer& trainer,
                                   const RunState& state) const {
  const int processes = saved.value("processes", 1);
  const std::string build = saved.value("build", build_name());
  std::string before = saved.at("instruction_set"), now = trainer.model().device.kernels.name;
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
  if (writes_) cut_history(metrics_bytes_until(folder_ + "/metrics.jsonl", 0), 1);
}

// --- the model --------------------------------------------------------------------------------------

// A model without any checkpoint would look like the result of another command, which no run may overwrite: so the
// first model gets a checkpoint of its own.
void RunStore::keep_if_best(const Trainer& trainer, const RunState& state) {
  if (!writes_ || state.validations.best_step != trainer.steps()) return;
  if (saved_step_ < 0) try_to_save(trainer, state, CheckpointReason::extra);
  try {
    const HostView<const float> weights(trainer.model().device.memory, trainer.weights_for_use());
    write_weights(weights_path(folder_), trainer.model().parameters, weights.span());
  } catch (const Error& error) {
    log_warning("{}; training continues", error.what());
  }
}

void RunStore::write_final_model(Trainer& trainer, const RunState& state, int64_t average_last) {
  if (!writes_) return;
  const std::vector<std::string> files = files_to_average(trainer.steps(), average_last);
  if (files.empty()) return restore_best(trainer, state.validations.best_step);
  Parameters& parameters = trainer.model().parameters;
  average_weights(parameters, files);
  write_weights(weights_path(folder_), parameters,
                HostView<const float>(parameters.memory(), parameters.weights()).span());
  log_info("the model is the average of the last {} checkpoints", files.size());
}

// The last checkpoints that an uninterrupted run has, the one of its end among them.
std::vector<std::string> RunStore::files_to_average(int64_t step, int64_t average_last) const {
  const auto count = static_cast<size_t>(average_last);
  std::vector<std::string> files;
  if (count < 2) return files;
  for (const CheckpointInfo& found : checkpoints_.list()) {
    if (found.reason == CheckpointReason::on_schedule || found.step == step)
      files.push_back(weights_path(found.path));
  }
  if (files.size() > count) files.erase(files.begin(), files.end() - static_cast<std::ptrdiff_t>(count));
  return files;
}

// The model's file may be missing or of another step, if the disk was full or the program was killed: then the
// checkpoint of the best step has the weights.
void RunStore::restore_best(Trainer& trainer, int64_t best_step) const {
  const std::string path = weights_path(folder_);
  Parameters& parameters = trainer.model().parameters;
  const auto read = [&](const std::string& file) {
    read_weights(file, parameters);
    const HostView<const float> weights(parameters.memory(), parameters.weights());
    return std::vector<float>(weights.begin(), weights.end());
  };
  const bool exists = std::filesystem::exists(path);
  if (const auto checkpoint = checkpoints_.of_step(best_step)) {
    const std::vector<float> best = read(weights_path(checkpoint->path));
    if (!exists || !same_bits(read(path), best)) write_weights(path, parameters, best);
  } else if (!exists) {
    throw Error(
        "{} has no model, because none could be written: check the disk, and run the same command again",
        folder_);
  }
  read_weights(path, parameters);
}

}  // namespace dragoman::internal
