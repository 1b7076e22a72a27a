#include "train/run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/log.h"
#include "base/signals.h"

namespace dragoman {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

bool due(int64_t every, int64_t step) { return every > 0 && step > 0 && step % every == 0; }

RateOptions rate_options(const Recipe& recipe) {
  const TrainingConfig& t = recipe.training;
  return {t.schedule, t.factor, t.learning_rate, t.warmup, t.max_steps, recipe.model.d_model};
}

}  // namespace

void Run::train() {
  if (validation_is_due()) {  // a signal broke it off
    do_what_is_due();
    stop_if_asked();
  }
  while (!finished()) {
    step();
    stop_if_asked();
  }
  progress_.clear();
  const bool validates = state_.validated_step != trainer_.steps();
  if (validates) validate();
  if (state_.validated_step != trainer_.steps()) stop_if_asked();  // by a signal, which broke it off
  try_to_save(CheckpointReason::extra);
  if (validates) keep_if_best();
  finish();
}

bool Run::finished() const {
  const TrainingConfig& t = recipe_.training;
  const int64_t patience = recipe_.validation.patience;
  return (t.max_epochs > 0 && state_.position.epoch >= t.max_epochs) ||
         (t.max_steps > 0 && trainer_.steps() >= t.max_steps) ||
         (t.max_minutes > 0 && state_.seconds >= 60 * t.max_minutes) ||
         (patience > 0 && state_.without_improvement >= patience);
}

// At the end of an epoch the position is already that of the next. Where an update was skipped, or there was none, the
// step is the same as before.
bool Run::validation_is_due() const {
  const int64_t every = recipe_.validation.every, steps = trainer_.steps();
  const bool epoch_ended = state_.position.epoch > 0 && state_.position.index == 0;
  return state_.validated_step != steps && (every > 0 ? due(every, steps) : epoch_ended);
}

// The batches of one update, and what is due after it.
void Run::step() {
  const auto begin = Clock::now();
  const Share share = next_share();
  state_.position = task_.training->position();
  if (share.of_all > 0) update(share.own);
  const double seconds = seconds_since(begin);
  state_.seconds += seconds;
  state_.recent_seconds += seconds;

  do_what_is_due();
}

// A validation that a signal breaks off is the first thing in the run that goes on, and so is what comes after it.
void Run::do_what_is_due() {
  const bool validates = validation_is_due();
  if (validates) validate();
  if (validates && state_.validated_step != trainer_.steps()) return;
  const int64_t saves = recipe_.checkpoints.every;
  if (saves > 0 ? due(saves, trainer_.steps()) : validates) try_to_save(CheckpointReason::on_schedule);
  if (validates) keep_if_best();
}

// A process has the batches whose number is its own, modulo the number of processes.
Run::Share Run::next_share() {
  Share share;
  BatchSource& source = *task_.training;
  while (share.of_all < state_.batches_per_update && !share.epoch_ended) {
    if (source.position().index % processes_.count() == processes_.number()) {
      std::optional<Batch> batch = source.next();
      share.epoch_ended = !batch;
      if (batch) share.own.push_back(std::move(*batch));
    } else {
      share.epoch_ended = !source.skip();
    }
    share.of_all += !share.epoch_ended;
  }
  return share;
}

// Clocks differ, and a signal may reach one process alone.
void Run::agree_on_time_and_signals() {
  struct Said {
    double seconds;
    int signal;
  };
  const std::vector<Said> said = processes_.gather(Said{state_.seconds, stop_requested()});
  state_.seconds = said[0].seconds;
  for (const Said& one : said) stop_signal_ = std::max(stop_signal_, one.signal);
}

void Run::stop_if_asked() {
  agree_on_time_and_signals();
  if (stop_signal_ == 0) return;
  progress_.clear();
  if (processes_.first()) save(CheckpointReason::extra);
  processes_.leave();
  throw Stopped(stop_signal_,
                processes_.first()
                    ? fmt::format("stopped at step {}, and saved: the same command goes on from there",
                                  trainer_.steps())
                    : "");
}

void Run::update(const std::vector<Batch>& batches) {
  const auto begin = Clock::now();
  const double waited = processes_.seconds_waited();
  const Gradients gradients = trainer_.compute(batches);
  const auto verdict = state_.guard.judge(gradients.sums.per_token(), gradients.norm);
  if (verdict != DivergenceGuard::Verdict::good) return skip_or_go_back(gradients, verdict);

  const double rate = learning_rate(rate_options(recipe_), trainer_.steps() + 1) * state_.guard.rate_scale();
  trainer_.apply(gradients, rate);
  if (averages_) {
    const auto weights = model_.parameters.weights();
    device_.kernels.move_toward(device_.context, static_cast<int64_t>(weights.size()),
                                static_cast<float>(averaging_rate(recipe_.training.ema, trainer_.steps())),
                                weights.data(), averages_.data());
  }
  state_.recent_sums += gradients.sums;
  const double seconds = seconds_since(begin);
  const LossSums& sums = gradients.sums;
  nlohmann::ordered_json values = {
      {"epoch", state_.position.epoch + 1},
      {"loss", sums.per_token()},
      {"perplexity", std::exp(sums.unsmoothed / static_cast<double>(sums.target_tokens))},
      {"learning_rate", rate},
      {"gradient_norm", gradients.norm},
      {"tokens_per_second", static_cast<double>(sums.source_tokens + sums.target_tokens) / seconds},
      {"target_tokens_per_second", static_cast<double>(sums.target_tokens) / seconds},
      {"seconds", state_.seconds + seconds}};
  if (processes_.count() > 1) values["waiting"] = (processes_.seconds_waited() - waited) / seconds;
  log("train", std::move(values));
  show_progress(gradients, seconds);
}

void Run::validate() {
  if (processes_.first()) validate_here();
  struct Result {
    int64_t validated_step, best_step, without_improvement;
    double best_value;
  };
  const Result result = processes_.gather(
      Result{state_.validated_step, state_.best_step, state_.without_improvement, state_.best_value})[0];
  if (result.validated_step != trainer_.steps()) return;  // a signal broke it off
  state_.validated_step = result.validated_step;
  state_.best_step = result.best_step;
  state_.without_improvement = result.without_improvement;
  state_.best_value = result.best_value;
  state_.recent_sums = {};
  state_.recent_seconds = 0;
}

void Run::validate_here() {
  progress_.show_work(fmt::format("step {}: validating", trainer_.steps()));
  const auto weights = model_.parameters.weights();
  const auto exchange = [&] {  // of weights and their average, there and back
    if (!averages_) return;
    const Tensor third(device_.pool, 1, averages_.columns());
    device_.memory.copy(third.data(), weights.data(), weights.size_bytes());
    device_.memory.copy(weights.data(), averages_.data(), weights.size_bytes());
    device_.memory.copy(averages_.data(), third.data(), weights.size_bytes());
    model_.parameters.changed();
  };
  exchange();
  const std::optional<Validation> validation = validate_model(model_, trainer_, task_, recipe_.validation);
  exchange();
  progress_.clear();
  if (!validation) return;
  state_.validated_step = trainer_.steps();
  report(*validation);
  const double value = value_of(*validation);
  if (is_better(value)) {
    state_.best_value = value;
    state_.best_step = trainer_.steps();
    state_.without_improvement = 0;
  } else {
    ++state_.without_improvement;
  }
}

bool Run::is_better(double value) const {
  if (std::isnan(value)) return false;
  const KeepBestBy by = best_by();
  const bool higher = by == KeepBestBy::bleu || by == KeepBestBy::chrf;
  return state_.best_step < 0 || (higher ? value > state_.best_value : value < state_.best_value);
}

KeepBestBy Run::best_by() const {
  return task_.validation.empty() ? KeepBestBy::train_loss : recipe_.validation.keep_best_by;
}

double Run::value_of(const Validation& validation) const {
  switch (best_by()) {
    case KeepBestBy::loss:
      return validation.loss();
    case KeepBestBy::bleu:
      return validation.bleu;
    case KeepBestBy::chrf:
      return validation.chrf;
    case KeepBestBy::train_loss:
      break;
  }
  // Without an update nothing was learnt, and every loss that comes is better.
  const LossSums& sums = state_.recent_sums;
  return sums.target_tokens > 0 ? sums.per_token() : std::numeric_limits<double>::max();
}

// One line for a reader, and the events for the curves.
void Run::report(const Validation& validation) {
  const LossSums& sums = state_.recent_sums;
  const double tokens = static_cast<double>(sums.source_tokens + sums.target_tokens);
  std::string line = fmt::format("epoch {:>3}  step {:>6}", epoch_shown(), trainer_.steps());
  if (tokens > 0) line += fmt::format("  training loss {:.4f}", sums.per_token());
  if (!task_.validation.empty()) {
    line += fmt::format("  validation loss {:.4f}", validation.loss());
    if (validation.bleu >= 0) line += fmt::format("  BLEU {:.1f}", validation.bleu);
    if (validation.chrf >= 0) line += fmt::format("  chrF {:.1f}", validation.chrf);
  }
  if (tokens > 0) line += fmt::format("  {:.0f} tokens/s", tokens / std::max(state_.recent_seconds, 1e-9));
  log_info("{}", line);
  if (task_.validation.empty()) return;

  nlohmann::ordered_json values = {{"epoch", epoch_shown()},
                                   {"loss", validation.loss()},
                                   {"perplexity", std::exp(validation.loss())},
                                   {"seconds", state_.seconds}};
  if (validation.bleu >= 0) values["bleu"] = validation.bleu;
  if (validation.chrf >= 0) values["chrf"] = validation.chrf;
  log("validation", values);
  const auto samples =
      std::min<size_t>(static_cast<size_t>(recipe_.validation.samples), validation.translations.size());
  for (size_t i = 0; i < samples; ++i) {
    board_->text(fmt::format("sample/{}", i + 1), trainer_.steps(), validation.translations[i]);
    log("sample", {{"source", task_.validation.source_texts[i]},
                   {"reference", task_.validation.references[i]},
                   {"translation", validation.translations[i]}});
  }
}

// At the end of an epoch the position is already that of the next.
int64_t Run::epoch_shown() const { return state_.position.epoch + (state_.position.index > 0 ? 1 : 0); }

void Run::show_progress(const Gradients& gradients, double seconds) {
  if (!processes_.first()) return;
  const TrainingConfig& t = recipe_.training;
  ProgressFacts facts = {
      .epoch = state_.position.epoch + 1,
      .step = trainer_.steps(),
      .loss = gradients.sums.per_token(),
      .tokens_per_second =
          static_cast<double>(gradients.sums.source_tokens + gradients.sums.target_tokens) / seconds};
  if (t.max_steps > 0) facts.share = static_cast<double>(trainer_.steps()) / static_cast<double>(t.max_steps);
  if (t.max_minutes > 0) facts.share = std::max(facts.share, state_.seconds / (60 * t.max_minutes));
  const int64_t batches = task_.training->batches_in_epoch();
  if (t.max_epochs > 0 && batches > 0) {
    const double epochs = static_cast<double>(state_.position.epoch) +
                          static_cast<double>(state_.position.index) / static_cast<double>(batches);
    facts.share = std::max(facts.share, epochs / static_cast<double>(t.max_epochs));
  }
  progress_.show(facts);
}

}  // namespace dragoman
