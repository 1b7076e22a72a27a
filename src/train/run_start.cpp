// Where a run begins: anew, from another model's weights, or from its newest checkpoint.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/build.h"
#include "base/files.h"
#include "base/log.h"
#include "base/threads.h"
#include "model/folder.h"
#include "model/weights.h"
#include "text/vocabulary.h"
#include "train/run.h"
#include "train/run_checks.h"

namespace dragoman {
namespace {

UpdateOptions update_options(const TrainingConfig& t) {
  return {.adam = {t.beta1, t.beta2, t.epsilon, t.optimizer == Optimizer::adamw ? t.weight_decay : 0},
          .smoothing = {static_cast<float>(t.label_smoothing), t.smoothing_over},
          .clip_norm = t.clip_norm,
          .seed = static_cast<uint64_t>(t.seed),
          .part_tokens = t.part_tokens,
          .precision = t.precision,
          .wire = t.reduce_as};
}

int thread_count(const TrainingConfig& training, const Processes& processes) {
  return training.threads > 0 ? static_cast<int>(training.threads) : processes.share_of_threads();
}

// The first process's alone, and so is what it finds wrong.
std::unique_ptr<RunLock> lock_folder(const Recipe& recipe, const RunOptions& options,
                                     const Processes& processes) {
  if (!processes.first()) return nullptr;
  check_fits_folder(recipe, options);
  return std::make_unique<RunLock>(options.folder);
}

// The first process prepares the corpus and finds out what is automatic; the others take both from it. What is wrong
// it finds before them, too, and says it alone.
Task make_task_together(const Recipe& recipe, const RunOptions& options, Processes& processes) {
  if (processes.first()) {
    Task task = make_task(recipe, options.folder, processes);
    processes.gather(task.recipe.training.batch_tokens);
    return task;
  }
  Recipe same = recipe;
  same.training.batch_tokens = processes.gather(recipe.training.batch_tokens)[0];
  return make_task(same, options.folder, processes);
}

}  // namespace

Run::Run(const Recipe& recipe, const RunOptions& options, Processes& processes)
    : options_(options),
      processes_(processes),
      lock_(lock_folder(recipe, options, processes)),
      task_(make_task_together(recipe, options, processes)),
      recipe_(task_.recipe),
      device_(kernels_for(std::getenv("DRAGOMAN_ISA")), thread_count(recipe.training, processes)),
      model_(recipe_.model, device_, Buffers::weights_and_gradients),
      trainer_(model_, update_options(recipe.training), processes),
      checkpoints_(options.folder + "/checkpoints",
                   std::max(recipe.checkpoints.keep, recipe.training.average_last)) {
  if (recipe.training.ema > 0) {
    averages_ = Tensor(device_.pool, 1, static_cast<int64_t>(model_.parameters.weights().size()));
  }
  state_.batches_per_update = recipe.training.accumulate * processes.count();
  after_the_first(processes, [&] { open_folder(); });
  check_all_agree();
  log_info("{:.1f} million parameters, {}{} threads, {}",
           static_cast<double>(model_.parameters.weights().size()) / 1e6,
           processes.count() > 1 ? fmt::format("{} processes, each with ", processes.count()) : "",
           device_.context.threads(), device_.kernels.name);
  if (recipe.training.precision == Precision::bf16 && !has_bf16(device_.kernels)) {
    log_warning(
        "training.precision is bf16, which {} has no instructions for: products are emulated, which is right "
        "but slow; fp32 is faster here",
        device_.kernels.name);
  }
}

void Run::open_folder() {
  const auto checkpoint = checkpoints_.newest();
  if (!checkpoint) check_fits_new_run();
  if (processes_.first()) write_file(options_.folder + "/config.json", {config_json().dump(1)});
  if (checkpoint) {
    go_on_from(*checkpoint);
    log_info("going on from step {}, epoch {}", trainer_.steps(), state_.position.epoch + 1);
    log("resume", {{"epoch", state_.position.epoch + 1}});
  } else {
    start_anew();
  }
}

void Run::check_fits_new_run() const {
  check_no_finished_model(options_.folder);
  if (options_.resume == Resume::require)
    throw UsageError("{} has no checkpoint to go on from, as --resume require wants it", options_.folder);
  if (!options_.init_from.empty() && !have_same_vocabularies(options_.folder, options_.init_from)) {
    throw UsageError("--init-from {0} has another vocabulary than this run: add --vocabulary.from {0}",
                     options_.init_from);
  }
}

nlohmann::json Run::config_json() const {
  return {{"format", 1},
          {"model", to_json(recipe_.model)},
          {"recipe", recipe_json(recipe_)},
          {"made_by",
           {{"build", build_name()},
            {"instruction_set", device_.kernels.name},
            {"processes", processes_.count()}}}};
}

// The weights of step 0.
void Run::set_first_weights() {
  model_.parameters.initialise(static_cast<uint64_t>(recipe_.training.seed));
  if (!options_.init_from.empty()) read_weights(weights_path(options_.init_from), model_.parameters);
  const auto weights = model_.parameters.weights();
  if (averages_) device_.memory.copy(averages_.data(), weights.data(), weights.size_bytes());
  trainer_.adam().forget();
  trainer_.set_steps(0);
}

void Run::start_anew() {
  set_first_weights();
  if (!processes_.first()) return;
  log_ = std::make_unique<MetricsLog>(options_.folder + "/metrics.jsonl");
  board_ = std::make_unique<TensorBoardWriter>(options_.folder + "/tensorboard");
  if (!task_.facts.is_null()) log("prepare", task_.facts);
}

void Run::go_on_from(const CheckpointInfo& checkpoint) {
  read_buffers(checkpoint);
  trainer_.set_steps(checkpoint.step);
  const nlohmann::json saved = Checkpoints::read_state(checkpoint);
  try {
    state_.from_json(saved.at("state"));
    if (processes_.first()) cut_history(saved.at("metrics_bytes"));
    tell_what_changed(saved);
  } catch (const nlohmann::json::exception& error) {
    throw Error("{}/state.json is not what this version writes: {}", checkpoint.path, error.what());
  }
  saved_step_ = checkpoint.step;
  saved_reason_ = checkpoint.reason;
  task_.training->seek(state_.position);
}

// To the steps until now. In a run that goes back, what went wrong meanwhile is kept.
void Run::cut_history(int64_t bytes) {
  if (log_) {
    log_->cut(bytes, "divergence");
  } else {
    log_ = std::make_unique<MetricsLog>(options_.folder + "/metrics.jsonl", bytes);
  }
  board_.reset();
  board_ = std::make_unique<TensorBoardWriter>(options_.folder + "/tensorboard", trainer_.steps() + 1);
}

// Sums of gradients are of use only where all are of the same weights, and all make the same step of them.
void Run::check_all_agree() {
  struct Standing {
    int64_t step, epoch, index;
    char instruction_set[32];
  } own = {trainer_.steps(), state_.position.epoch, state_.position.index, {}};
  std::string_view(device_.kernels.name).copy(own.instruction_set, sizeof own.instruction_set - 1);
  const std::vector<Standing> all = processes_.gather(own);
  const Standing& first = all[0];
  for (const Standing& other : all) {
    const bool computes_the_same = std::string_view(other.instruction_set) == first.instruction_set;
    const bool stands_there =
        other.step == first.step && other.epoch == first.epoch && other.index == first.index;
    if (computes_the_same && stands_there) continue;
    if (!processes_.first()) throw Error("");
    if (!computes_the_same) {
      throw Error("one process has {} and another {}: set DRAGOMAN_ISA to what all of them have",
                  first.instruction_set, other.instruction_set);
    }
    throw Error(
        "the processes find other checkpoints in {} than the first one: it must be one folder for all",
        options_.folder);
  }
}

// What the bits depend on, beside the recipe.
void Run::tell_what_changed(const nlohmann::json& saved) const {
  const int processes = saved.value("processes", 1);
  const std::string build = saved.value("build", build_name());
  std::string before = saved.at("instruction_set"), now = device_.kernels.name;
  if (build != build_name()) {
    before += fmt::format(" (build {})", build);
    now += fmt::format(" (build {})", build_name());
  }
  if (processes != processes_.count()) {
    before += fmt::format(" with {} processes", processes);
    now += fmt::format(" with {}", processes_.count());
  }
  if (before == now) return;
  log_warning(
      "this run was on {} and goes on with {}: it stays right, an update still has {} batches, but its bits "
      "may not be those of an undisturbed one",
      before, now, state_.batches_per_update);
}

void Run::read_buffers(const CheckpointInfo& checkpoint) {
  Parameters& parameters = model_.parameters;
  const auto model = SafetensorsFile::open(checkpoint.path + "/model.safetensors");
  const auto optimizer = SafetensorsFile::open(checkpoint.path + "/optimizer.safetensors");
  if (averages_) {
    read_flat(model, parameters, {averages_.data(), parameters.weights().size()});
    read_flat(optimizer, parameters, parameters.weights(), "weights/");
  } else {
    read_flat(model, parameters, parameters.weights());
  }
  read_flat(optimizer, parameters, trainer_.adam().first_moments(), "first/");
  read_flat(optimizer, parameters, trainer_.adam().second_moments(), "second/");
  parameters.changed();
}

}  // namespace dragoman
