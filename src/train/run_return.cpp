// Where an update diverges: it is skipped, and after several the run goes back to where it was good.
#include "base/log.h"
#include "train/run.h"

namespace dragoman {

void Run::skip_or_go_back(const Gradients& gradients, DivergenceGuard::Verdict verdict) {
  state_.guard.blame(model_.parameters);
  const std::string reason = state_.guard.reason();
  progress_.clear();
  log("divergence",
      {{"reason", reason}, {"loss", gradients.sums.per_token()}, {"gradient_norm", gradients.norm}});
  switch (verdict) {
    case DivergenceGuard::Verdict::good:
      return;
    case DivergenceGuard::Verdict::skip:
      log_warning("step {}: {}; the weights stay as they are, and the batch is skipped", trainer_.steps() + 1,
                  reason);
      return;
    case DivergenceGuard::Verdict::give_up:
      give_up(reason);
    case DivergenceGuard::Verdict::go_back:
      break;
  }
  go_back();
  log_warning("{}: back to step {} with {} of the learning rate", reason, trainer_.steps(),
              state_.guard.rate_scale());
}

// To the newest checkpoint that a good update followed: one of this very step has the weights that have just failed.
// Signals leave checkpoints of their own, which an undisturbed run does not have to go back to.
void Run::go_back() {
  const RunState later = state_;
  if (const auto checkpoint = checkpoints_.newest_before(trainer_.steps())) {
    go_on_from(*checkpoint);
  } else {
    begin_again();
  }
  state_.guard.keep_patience_of(later.guard);
  state_.seconds = later.seconds;
  state_.position = later.position;  // the data go on: other batches may do
  task_.training->seek(state_.position);
  if (processes_.first()) {
    if (trainer_.steps() == 0) try_to_save(CheckpointReason::extra);
    if (saved_step_ == trainer_.steps()) checkpoints_.remove_after(saved_step_);
  }
  check_all_agree();
}

void Run::begin_again() {
  set_first_weights();
  const int64_t batches_per_update = state_.batches_per_update;
  state_ = {};
  state_.batches_per_update = batches_per_update;
  saved_step_ = -1;
  if (processes_.first()) cut_history(metrics_bytes_until(options_.folder + "/metrics.jsonl", 0));
}

void Run::give_up(const std::string& reason) {
  if (!processes_.first()) throw Error("");
  const auto checkpoint = checkpoints_.newest_before(trainer_.steps());
  throw Error(
      "training diverges again and again, at last because {}: {}; try a smaller learning rate, a longer "
      "warm-up or clip_norm",
      reason,
      checkpoint ? "what was good last is in " + checkpoint->path : "no checkpoint is known to be good");
}

}  // namespace dragoman
