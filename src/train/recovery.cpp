#include "train/recovery.h"

#include "base/error.h"
#include "base/log.h"

namespace dragoman::internal {

Recovery::Recovery(Trainer& trainer, RunState& state, RunStore& store, BatchSource& batches,
                   std::function<void()> set_first_weights)
    : trainer_(trainer),
      state_(state),
      store_(store),
      batches_(batches),
      set_first_weights_(std::move(set_first_weights)) {}

bool Recovery::recover(const Gradients& gradients, DivergenceGuard::Verdict verdict) {
  state_.guard.blame(trainer_.model().parameters);
  const std::string reason = state_.guard.reason();
  store_.log("divergence", trainer_.steps(),
             {{"reason", reason}, {"loss", gradients.sums.per_token()}, {"gradient_norm", gradients.norm}});
  switch (verdict) {
    case DivergenceGuard::Verdict::good:
      return false;
    case DivergenceGuard::Verdict::skip:
      log_warning("step {}: {}; the batch is skipped, the weights are unchanged", trainer_.steps() + 1,
                  reason);
      return false;
    case DivergenceGuard::Verdict::stop:
      stop(reason);
    case DivergenceGuard::Verdict::rollback:
      break;
  }
  rollback(reason);
  return true;
}

void Recovery::recover_from(const std::string& defect) {
  store_.log("divergence", trainer_.steps(), {{"reason", defect}});
  if (state_.guard.reject() == DivergenceGuard::Verdict::stop) stop(defect);
  rollback(defect);
}

void Recovery::rollback(const std::string& reason) {
  go_back();
  log_warning("{}: rolled back to step {}, with the learning rate multiplied by {}", reason, trainer_.steps(),
              state_.guard.rate_scale());
}

// A checkpoint is good if a good update followed it: that of the present step has the very weights that have failed.
// Those that signals left do not count, since an uninterrupted run does not have them.
void Recovery::go_back() {
  const RunState failed = state_;
  if (const auto checkpoint = store_.checkpoints().newest_before(trainer_.steps())) {
    store_.load(*checkpoint, trainer_, state_);
  } else {
    restart();
  }
  state_.guard.keep_counters_of(failed.guard);
  state_.seconds = failed.seconds;
  state_.position = failed.position;
  state_.batches_in_epoch = failed.batches_in_epoch;
  batches_.seek(state_.position);
  if (trainer_.steps() == 0) store_.try_to_save(trainer_, state_, CheckpointReason::extra);
  store_.remove_later(trainer_.steps());
}

void Recovery::restart() {
  set_first_weights_();
  state_ = {.batches_per_update = state_.batches_per_update};
  store_.restart_history();
}

void Recovery::stop(const std::string& reason) {
  if (!store_.writes()) throw Error("");  // the first process reports it
  const auto checkpoint = store_.checkpoints().newest_before(trainer_.steps());
  throw Error(
      "training keeps diverging, most recently because {}: {}; try a smaller learning rate, a longer "
      "warm-up or clip_norm",
      reason, checkpoint ? "the last good checkpoint is " + checkpoint->path : "there is no good checkpoint");
}

}  // namespace dragoman::internal
