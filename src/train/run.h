// Run: training from where it stands to its end, with all that can happen on the way.
//
//   batches → gradients → guard → update → (validation, checkpoint) → …
//
// Several processes run it side by side, each with its share of an update's batches: all of them come to the same
// decisions, and the first one validates, logs and saves.
//
// All that a later step depends on is in the RunState and the flat buffers: a checkpoint holds both, so that a run
// which goes on from it ends with the same weights as one that was never stopped.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/checkpoints.h"
#include "train/divergence.h"
#include "train/metrics_log.h"
#include "train/progress.h"
#include "train/recipe.h"
#include "train/run_lock.h"
#include "train/task.h"
#include "train/tensorboard.h"
#include "train/trainer.h"
#include "train/validation.h"

namespace dragoman {

// What a checkpoint holds beside the flat buffers.
struct RunState {
  DataPosition position;
  double seconds = 0;    // of training, over all resumes
  LossSums recent_sums;  // since the last validation
  double recent_seconds = 0;
  int64_t best_step = -1;  // of the best validation
  double best_value = 0;
  int64_t without_improvement = 0;  // validations
  int64_t validated_step = -1;      // of the last validation: at the end there is one more, or there was
  int64_t batches_per_update = 0;   // of all processes together, however many there are later on
  DivergenceGuard guard;

  nlohmann::json to_json() const;
  void from_json(const nlohmann::json& saved);
};

// automatic: go on where there is a checkpoint. require: an error where there is none. never: an error where there is.
enum class Resume { automatic, never, require };

struct RunOptions {
  std::string folder;  // of the model
  Resume resume = Resume::automatic;
  std::string init_from;  // another model's folder, or nothing
};

class Run {
 public:
  Run(const Recipe& recipe, const RunOptions& options, Processes& processes = single_process());
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Trains to the end. Throws Stopped where a signal asked for it, once all is saved.
  void train();

  Transformer& model() { return model_; }
  const Task& task() const { return task_; }

 private:
  // The next update's batches.
  struct Share {
    std::vector<Batch> own;  // this process's
    int64_t of_all = 0;      // how many all processes have
    bool epoch_ended = false;
  };

  // run_start.cpp: where a run begins
  void open_folder();
  void check_fits_new_run() const;
  void start_anew();
  void set_first_weights();
  nlohmann::json config_json() const;
  void go_on_from(const CheckpointInfo& checkpoint);
  void cut_history(int64_t bytes);
  void check_all_agree();
  void tell_what_changed(const nlohmann::json& saved) const;
  void read_buffers(const CheckpointInfo& checkpoint);

  // run.cpp: what it does again and again
  bool finished() const;
  bool validation_is_due() const;
  void step();
  void do_what_is_due();
  Share next_share();
  void agree_on_time_and_signals();
  void stop_if_asked();
  void update(const std::vector<Batch>& batches);
  void validate();
  void validate_here();
  void report(const Validation& validation);
  bool is_better(double value) const;
  KeepBestBy best_by() const;
  double value_of(const Validation& validation) const;
  int64_t epoch_shown() const;
  void show_progress(const Gradients& gradients, double seconds);

  // run_return.cpp: where it diverges
  void skip_or_go_back(const Gradients& gradients, DivergenceGuard::Verdict verdict);
  void go_back();
  void begin_again();
  [[noreturn]] void give_up(const std::string& reason);

  // run_save.cpp: what it leaves behind
  bool is_saved(CheckpointReason reason) const;
  void try_to_save(CheckpointReason reason);
  void save(CheckpointReason reason);
  void keep_if_best();
  void write_model();
  void finish();
  void restore_best();
  std::vector<std::string> files_to_average() const;
  std::span<const float> weights_for_use() const;  // the moving average where there is one
  void log(const std::string& event, nlohmann::ordered_json values);

  RunOptions options_;
  Processes& processes_;
  std::unique_ptr<RunLock> lock_;  // the first process's
  Task task_;
  Recipe recipe_;
  Device device_;
  Transformer model_;
  Trainer trainer_;
  Checkpoints checkpoints_;
  std::unique_ptr<MetricsLog> log_;  // the first process's; and so is the board
  std::unique_ptr<TensorBoardWriter> board_;
  Progress progress_;
  Tensor averages_;  // the weights' moving average, flat; nothing where recipe_.training.ema is 0
  RunState state_;
  int64_t saved_step_ = -1;
  CheckpointReason saved_reason_ = CheckpointReason::extra;
  int stop_signal_ = 0;  // that some process got
};

// The weights of several checkpoints or models, averaged, as the model's own.
void average_weights(Transformer& model, const std::vector<std::string>& files);

}  // namespace dragoman
