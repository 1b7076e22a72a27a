// Run: training from its first or resumed step to its end.
//
//   batches → gradients → guard → update → (validation, checkpoint) → …
//
// Several processes run it side by side, each with its share of an update's batches. All come to the same decisions;
// the first one validates, logs and saves. What later steps depend on is in the trainer's buffers and the RunState: a
// checkpoint holds both, so that a resumed run ends with the same weights as an uninterrupted one.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "train/observer.h"
#include "train/progress.h"
#include "train/recipe.h"
#include "train/recovery.h"
#include "train/run_options.h"
#include "train/run_state.h"
#include "train/run_store.h"
#include "train/task.h"
#include "train/trainer.h"
#include "train/validation.h"

namespace dragoman::internal {

// How a run makes its updates; its precision must be resolved.
UpdateOptions update_options(const TrainingConfig& training);

class Run {
 public:
  // `recipe`: validated. Prepares the corpus, and resumes from the newest checkpoint if there is one.
  Run(const Recipe& recipe, const RunOptions& options, Processes& processes = single_process(),
      TrainingObserver observer = {});
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Trains to the end. Throws Stopped, after saving, when a signal or the observer asks for it.
  void train();

  Transformer& model() { return model_; }
  int64_t steps() const { return trainer_.steps(); }  // updates done
  const Task& task() const { return task_; }

 private:
  // The batches of the next update.
  struct UpdateBatches {
    std::vector<Batch> own;  // this process's
    int64_t total = 0;       // of all processes
  };

  void start();
  void resume(const CheckpointInfo& checkpoint);
  void start_new();
  void set_first_weights();
  void check_agreement() const;
  void log_setup() const;

  void count_batches();
  bool finished() const;
  std::optional<double> fraction_done() const;
  double rate_of_next_update() const;
  void step();
  UpdateBatches next_batches();
  // `begin`: when its batches were asked for: making them is part of its time.
  void update(const std::vector<Batch>& batches, double rate, std::chrono::steady_clock::time_point begin);
  UpdateReport report(const Gradients& gradients, double rate, double seconds, double waited) const;
  void end_epoch();

  bool validation_is_due() const;
  void validate_and_save();
  void save_on_schedule();
  bool roll_back_if_not_finite();
  void validate();
  void validate_on_first();
  void begin_cooldown();

  bool stop_requested();
  void stop_if_requested();

  RunOptions options_;
  Processes& processes_;
  TrainingObserver observer_;
  RunStore store_;
  Task task_;
  const Recipe& recipe_;  // the task's, which is complete
  Device device_;
  Transformer model_;
  Trainer trainer_;
  RunState state_;
  Recovery recovery_;
  Progress progress_;
  double last_rate_ = 0;       // of the last update
  double agreed_seconds_ = 0;  // state_.seconds when all processes last had the same
  bool stop_ = false;          // the observer asked for it
};

}  // namespace dragoman::internal
