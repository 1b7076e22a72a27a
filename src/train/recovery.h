// Recovery: what happens to a run when an update diverges (divergence.h decides that).
//
// The batch is skipped; or the run rolls back to its newest good checkpoint, and without one to step 0; or it ends with
// an error. After a rollback training continues with the next data: other batches may do better.
#pragma once

#include <functional>
#include <string>

#include "data/batch_source.h"
#include "train/run_state.h"
#include "train/run_store.h"
#include "train/trainer.h"

namespace dragoman::internal {

class Recovery {
 public:
  // `set_first_weights`: sets the model's weights to those of step 0.
  Recovery(Trainer& trainer, RunState& state, RunStore& store, BatchSource& batches,
           std::function<void()> set_first_weights);

  // After an update that was not good, and not applied. True if the run was rolled back.
  bool recover(const Gradients& gradients, DivergenceGuard::Verdict verdict);

  // After updates that looked good but left non-finite values: always rolls back.
  void recover_from(const std::string& defect);

 private:
  void rollback(const std::string& reason);
  void go_back();
  void restart();
  [[noreturn]] void stop(const std::string& reason);

  Trainer& trainer_;
  RunState& state_;
  RunStore& store_;
  BatchSource& batches_;
  std::function<void()> set_first_weights_;
};

}  // namespace dragoman::internal
