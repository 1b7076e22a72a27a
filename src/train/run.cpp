#include "train/run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/elapsed.h"
#include "base/log.h"
#include "base/quotes.h"
#include "base/signals.h"
#include "kernels/devices.h"
#include "model/folder.h"
#include "model/weights.h"
#include "nn/low_rank.h"
#include "train/run_checks.h"
#include "train/run_limits.h"
#include "train/training_device.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

bool is_multiple(int64_t step, int64_t every) { return every > 0 && step > 0 && step % every == 0; }

RateOptions rate_options(const Recipe& recipe) {
  const TrainingConfig& t = recipe.training;
  return {t.schedule, t.factor, t.learning_rate, t.warmup, t.max_steps, recipe.model.d_model};
}

// With what is trained beside the model's own parameters.
Transformer& allocated(Transformer& model, const TrainingConfig& training) {
  if (training.trainable == Trainable::low_rank) declare_low_rank_updates(model.parameters, training.rank);
  model.parameters.allocate(Buffers::weights_and_gradients);
  return model;
}

// Only the first process checks the folder and reports errors: the others wait for it later on.
RunStore open_store(const Recipe& recipe, const RunOptions& options, const Processes& processes) {
  if (processes.first()) {
    check_fits_folder(recipe, options);
    training_kernels(recipe.training);  // before a corpus is prepared for a device that is not there
  }
  return {options.folder, std::max(recipe.checkpoints.keep, recipe.training.average_last), processes};
}

}  // namespace

UpdateOptions update_options(const TrainingConfig& t) {
  return {.adam = {t.beta1, t.beta2, t.epsilon, t.optimizer == Optimizer::adamw ? t.weight_decay : 0},
          .muon = t.optimizer == Optimizer::muon ? std::optional(MuonOptions{t.momentum, t.matrix_rate})
                                                 : std::nullopt,
          .smoothing = {static_cast<float>(t.label_smoothing), t.smoothing_over},
          .clip_norm = t.clip_norm,
          .seed = static_cast<uint64_t>(t.seed),
          .part_tokens = t.part_tokens,
          .precision = precision_of(t),
          .wire = t.reduce_as,
          .int8_weights = t.weights == TrainedWeights::int8,
          .ema = t.ema,
          .fixes_matrices = t.trainable != Trainable::all,
          .guided_alignment = t.guided_alignment};
}

// --- start ------------------------------------------------------------------------------------------

Run::Run(const Recipe& recipe, const RunOptions& options, Processes& processes, TrainingObserver observer)
    : options_(options),
      processes_(processes),
      observer_(std::move(observer)),
      store_(open_store(recipe, options, processes)),
      task_(make_task(with_known_alignment(recipe, options), options.folder, processes,
                      observer_.stop_requested)),
      recipe_(task_.recipe),
      device_(training_kernels(recipe_.training), thread_count(recipe_.training, processes)),
      model_(recipe_.model, device_, Buffers::none_yet),
      trainer_(allocated(model_, recipe_.training), update_options(recipe_.training), processes),
      recovery_(trainer_, state_, store_, *task_.training, [this] { set_first_weights(); }) {
  state_.batches_per_update = recipe_.training.accumulate * processes.count();
  run_on_first_then_others(processes, [&] { start(); });
  check_agreement();
  log_setup();
}

void Run::start() {
  store_.set_corpus(task_.corpus);
  const auto checkpoint = store_.checkpoints().newest();
  if (checkpoint) {
    resume(*checkpoint);
  } else {
    check_fits_new_run(options_);
    start_new();
  }
  store_.write_config(recipe_, task_.facts, device_name(device_.kernels), options_.init_from,
                      checkpoint.has_value());
}

void Run::resume(const CheckpointInfo& checkpoint) {
  if (options_.init_from.empty())
    options_.init_from = store_.init_from();  // in case that it must begin again
  store_.load(checkpoint, trainer_, state_);
  task_.training->seek(state_.position);
  log_info("resuming from step {}, epoch {}", trainer_.steps(), state_.position.epoch + 1);
  store_.log("resume", trainer_.steps(), {{"epoch", state_.position.epoch + 1}});
}

void Run::start_new() {
  set_first_weights();
  store_.start_history();
  if (!task_.facts.is_null()) store_.log("prepare", 0, task_.facts);
}

void Run::set_first_weights() {
  model_.parameters.initialise(static_cast<uint64_t>(recipe_.training.seed));
  if (!options_.init_from.empty()) read_weights(weights_path(options_.init_from), model_.parameters);
  trainer_.reset();
}

void Run::check_agreement() const {
  check_processes_agree(
      processes_, options_.folder,
      {trainer_.steps(), state_.position.epoch, state_.position.index, device_name(device_.kernels)});
}

void Run::log_setup() const {
  log_info("{:.1f} million parameters, {}{}, {}",
           static_cast<double>(trainer_.weights_for_use().size()) / 1e6,
           processes_.count() > 1 ? fmt::format("{} processes, each with ", processes_.count()) : "",
           counted(device_.context.threads(), "thread"), device_name(device_.kernels));
  if (recipe_.training.label_smoothing > 0)
    log_info("training and validation losses are shown without label smoothing");
  if (precision_of(recipe_.training) == Precision::bf16 && !device_.kernels.low_precision.rounded_is_fast) {
    log_warning(
        "training.precision is bf16, but this processor has no fast instructions for it ({}): bf16 is "
        "emulated in fp32, at the speed of fp32",
        device_.kernels.name);
  }
}

// --- the loop ---------------------------------------------------------------------------------------

void Run::train() {
  const int64_t began_at = trainer_.steps();
  agreed_seconds_ = state_.seconds;
  if (recipe_.training.cooldown > 0 && recipe_.training.max_epochs > 0 && state_.batches_in_epoch == 0)
    count_batches();
  if (validation_is_due()) {  // it was interrupted
    validate_and_save();
    stop_if_requested();
  }
  do {
    while (!finished()) {
      step();
      stop_if_requested();
    }
  } while (roll_back_if_not_finite());
  progress_.clear();
  const bool validates = state_.validations.last_step != trainer_.steps();
  if (validates) validate();
  if (state_.validations.last_step != trainer_.steps()) stop_if_requested();  // it was interrupted
  if (validates) store_.keep_if_best(trainer_, state_);
  store_.finish(trainer_, state_, recipe_.training.average_last);
  store_.log("end", trainer_.steps(),
             {{"reason", reached_limit(recipe_, state_, trainer_.steps())},
              {"epoch", state_.position.epoch},
              {"best_step", state_.validations.best_step},
              {"seconds", state_.seconds}});
  log_info("{}", end_message(recipe_, state_, trainer_.steps(), began_at));
}

// By an estimate a cooldown would end before the first epoch does, or not at all. A large corpus takes a while.
void Run::count_batches() {
  BatchSource& source = *task_.training;
  source.seek({.epoch = state_.position.epoch});
  while (!stop_requested() && source.skip()) {}
  source.seek(state_.position);
  stop_if_requested();
}

bool Run::finished() const { return !reached_limit(recipe_, state_, trainer_.steps()).empty(); }

// What the corpus says is the same in a resumed run.
std::optional<double> Run::fraction_done() const {
  const int64_t known = state_.batches_in_epoch;
  return dragoman::internal::fraction_done(recipe_, state_, trainer_.steps(),
                                           known > 0 ? known : task_.training->batches_in_epoch());
}

double Run::rate_of_next_update() const {
  return learning_rate(rate_options(recipe_), trainer_.steps() + 1) *
         cooldown(recipe_.training.cooldown, fraction_done().value_or(0)) * state_.guard.rate_scale();
}

void Run::step() {
  const auto begin = Clock::now();
  const int64_t epoch = state_.position.epoch;
  const double rate = rate_of_next_update();
  const UpdateBatches batches = next_batches();
  state_.position = task_.training->position();
  if (batches.total > 0) update(batches.own, rate, begin);
  const double seconds = seconds_since(begin);
  state_.seconds += seconds;
  state_.recent_seconds += seconds;
  if (state_.position.epoch > epoch) end_epoch();
  validate_and_save();
}

// Batch i of an epoch is computed by process i modulo their number. The end of an epoch ends an update.
Run::UpdateBatches Run::next_batches() {
  UpdateBatches batches;
  BatchSource& source = *task_.training;
  for (bool epoch_ended = false; batches.total < state_.batches_per_update && !epoch_ended;) {
    if (source.position().index % processes_.count() == processes_.number()) {
      std::optional<Batch> batch = source.next();
      epoch_ended = !batch;
      if (batch) batches.own.push_back(std::move(*batch));
    } else {
      epoch_ended = !source.skip();
    }
    batches.total += !epoch_ended;
  }
  return batches;
}

void Run::update(const std::vector<Batch>& batches, double rate, Clock::time_point begin) {
  const double waited = processes_.seconds_waited();
  const Gradients gradients = trainer_.compute(batches);
  const auto verdict = state_.guard.judge(gradients.sums.per_token(), gradients.norm);
  if (verdict != DivergenceGuard::Verdict::good) {
    progress_.clear();
    if (recovery_.recover(gradients, verdict)) check_agreement();
    return;
  }
  trainer_.apply(gradients, last_rate_ = rate);
  state_.recent_sums += gradients.sums;
  state_.epoch_sums += gradients.sums;
  if (!processes_.first()) return;
  const UpdateReport done =
      report(gradients, rate, seconds_since(begin), processes_.seconds_waited() - waited);
  store_.log(done);
  progress_.show(done);
  if (observer_.on_update) observer_.on_update(done);
}

UpdateReport Run::report(const Gradients& gradients, double rate, double seconds, double waited) const {
  const LossSums& sums = gradients.sums;
  UpdateReport report = {
      .epoch = state_.epoch(),
      .step = trainer_.steps(),
      .loss = sums.per_token(),
      .unsmoothed_loss = sums.unsmoothed_per_token(),
      .learning_rate = rate,
      .gradient_norm = gradients.norm,
      .tokens_per_second = static_cast<double>(sums.source_tokens + sums.target_tokens) / seconds,
      .target_tokens_per_second = static_cast<double>(sums.target_tokens) / seconds,
      .seconds = state_.seconds + seconds,
      .done = fraction_done()};
  report.alignment_loss = sums.alignment_per_token();
  if (processes_.count() > 1) report.waiting = waited / seconds;
  return report;
}

// Where each epoch is validated, the validation's line tells its loss.
void Run::end_epoch() {
  state_.batches_in_epoch = task_.training->batches_in_epoch();
  const LossSums sums = std::exchange(state_.epoch_sums, {});
  if (sums.target_tokens == 0 || !processes_.first()) return;
  const int64_t epoch = state_.position.epoch, step = trainer_.steps();
  const double loss = sums.unsmoothed_per_token();
  store_.log("epoch", step,
             {{"epoch", epoch},
              {"loss", sums.per_token()},
              {"perplexity", std::exp(loss)},
              {"seconds", state_.seconds}});
  if (is_of_epochs(recipe_.validation)) return;
  progress_.clear();
  log_info("epoch {:>3}  step {:>6}  training loss {:.4f} over the epoch", epoch, step, loss);
}

// --- validation -------------------------------------------------------------------------------------

// At the end of an epoch the position is already that of the next. Where an update was skipped, or there was none, the
// step is the same as before.
bool Run::validation_is_due() const {
  const ValidationConfig& validation = recipe_.validation;
  const int64_t steps = trainer_.steps();
  if (state_.validations.last_step == steps) return false;
  if (is_of_epochs(validation)) return state_.position.epoch > 0 && state_.position.index == 0;
  const double slice = 60 * validation.every_minutes;
  const bool minutes_have_passed =
      slice > 0 && std::floor(agreed_seconds_ / slice) > std::floor(state_.validated_seconds / slice);
  return minutes_have_passed || is_multiple(steps, validation.every);
}

// After an interrupted validation nothing is done: the resumed run starts with it.
void Run::validate_and_save() {
  const int64_t every = recipe_.checkpoints.every;
  const bool validates = validation_is_due(),
             saves = every > 0 ? is_multiple(trainer_.steps(), every) : validates;
  if ((validates || saves) && roll_back_if_not_finite()) return;
  if (validates) validate();
  if (validates && state_.validations.last_step != trainer_.steps()) return;
  if (saves) save_on_schedule();
  if (validates) store_.keep_if_best(trainer_, state_);
}

// The final average needs all of these checkpoints: without one of them it would be another.
void Run::save_on_schedule() {
  progress_.clear();  // it may warn
  if (recipe_.training.average_last > 1) {
    store_.save(trainer_, state_, CheckpointReason::on_schedule);
  } else {
    store_.try_to_save(trainer_, state_, CheckpointReason::on_schedule);
  }
}

// Numbers that are not finite would be sealed in what is saved, and may not show in any loss: Adam's moments, the
// average, or the row of a rare word. A memory fault may be in only one process.
bool Run::roll_back_if_not_finite() {
  struct Defect {
    char tensor[128];
  } own = {};
  trainer_.non_finite_tensor().copy(own.tensor, sizeof own.tensor - 1);
  const std::vector<Defect> all = processes_.gather(own);
  const auto found = std::ranges::find_if(all, [](const Defect& one) { return one.tensor[0] != '\0'; });
  if (found == all.end()) return false;
  progress_.clear();
  recovery_.recover_from(fmt::format("{} has values that are not finite", found->tensor));
  check_agreement();
  return true;
}

void Run::validate() {
  if (processes_.first()) validate_on_first();
  state_.validations = processes_.gather(state_.validations)[0];
  state_.cooldown = processes_.gather(state_.cooldown)[0];
  if (state_.validations.last_step != trainer_.steps()) return;  // it was interrupted
  state_.validated_seconds = agreed_seconds_;
  state_.recent_sums = {};
  state_.recent_seconds = 0;
}

void Run::validate_on_first() {
  progress_.show_work(fmt::format("step {}: validating", trainer_.steps()));
  const auto report =
      dragoman::internal::validate(trainer_, task_, state_, [this] { return stop_requested(); });
  progress_.clear();
  if (!report) return;
  log_info("{}", log_line_of(*report, log_columns()));
  progress_.show_sample(*report);
  store_.log(*report);
  if (observer_.on_validation) observer_.on_validation(*report);
  if (early_cooldown_is_due(recipe_, state_, fraction_done())) begin_cooldown();
}

// After which patience counts anew.
void Run::begin_cooldown() {
  ValidationRecord& validations = state_.validations;
  state_.cooldown = {.step = trainer_.steps(), .patience = recipe_.validation.patience};
  log_info("{} validations without improvement since step {}: the cooldown begins, and ends at step {:.0f}",
           std::exchange(validations.without_improvement, 0), validations.best_step,
           end_of_early_cooldown(recipe_, state_));
}

// --- stopping ---------------------------------------------------------------------------------------

bool Run::stop_requested() {
  stop_ = stop_ || (observer_.stop_requested && observer_.stop_requested());
  return stop_ || dragoman::internal::stop_requested() != 0;
}

// Clocks differ between processes, and a request may reach only one of them. Weights are the same as long as gradients
// and rates are.
void Run::stop_if_requested() {
  struct Status {
    double seconds, rate;
    int32_t stop, signal;
  };
  const int32_t stop = stop_requested();
  const std::vector<Status> all =
      processes_.gather(Status{state_.seconds, last_rate_, stop, dragoman::internal::stop_requested()});
  for (const Status& one : all)
    CHECK(one.rate == last_rate_, "step {}: processes have learning rates of {} and {}", trainer_.steps(),
          last_rate_, one.rate);
  state_.seconds = agreed_seconds_ = all[0].seconds;
  if (std::ranges::all_of(all, [](const Status& one) { return one.stop == 0; })) return;
  progress_.clear();
  roll_back_if_not_finite();
  store_.save(trainer_, state_, CheckpointReason::extra);
  processes_.shutdown();
  const int signal = std::ranges::max(all, {}, &Status::signal).signal;
  throw Stopped(signal, processes_.first()
                            ? fmt::format("stopped at step {} and saved: run the same command to resume",
                                          trainer_.steps())
                            : "");
}

}  // namespace dragoman::internal
