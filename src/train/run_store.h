// RunStore: what a run keeps in the model's folder: its configuration, checkpoints, history and the model.
//
//   config.json          the recipe, and what else the bits depend on
//   checkpoints/         to resume from
//   metrics.jsonl        the history; tensorboard/ holds the same
//   model.safetensors    the best weights so far
//
// Of several processes only the first one writes; in the others log(), save() and the like do nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parallel/processes.h"
#include "train/checkpoints.h"
#include "train/metrics_log.h"
#include "train/observer.h"
#include "train/recipe.h"
#include "train/run_lock.h"
#include "train/run_model.h"
#include "train/run_state.h"
#include "train/tensorboard.h"

namespace dragoman::internal {

class RunStore {
 public:
  RunStore(const std::string& folder, int64_t keep_checkpoints, const Processes& processes);

  bool writes() const { return writes_; }
  const std::string& folder() const { return folder_; }
  const Checkpoints& checkpoints() const { return checkpoints_; }

  // What checkpoints are trained on, as Task has it.
  void set_corpus(const std::string& corpus) { corpus_ = corpus; }

  // `recipe`: with nothing left automatic. `facts`: of the prepared corpus; null: there is none. `init_from`: the model
  // whose weights the run began with, or empty; a new run takes that one's defaults of the search, too.
  void write_config(const Recipe& recipe, const nlohmann::json& facts, const std::string& instruction_set,
                    const std::string& init_from, bool resumes) const;
  std::string init_from() const;  // as the folder has it

  // --- history
  void start_history();
  void log(const std::string& event, int64_t step, const nlohmann::ordered_json& values);
  void log(const UpdateReport& report);
  void log(const ValidationReport& report);

  // --- checkpoints
  // Nothing if this step is saved. Throws Error where the disk refuses.
  void save(const Trainer& trainer, const RunState& state, CheckpointReason reason);
  // The same, once a step and with a warning: a disk that is full today may not be tomorrow.
  void try_to_save(const Trainer& trainer, const RunState& state, CheckpointReason reason);
  // Reads weights and state, and cuts the history to that step, except for divergences after it. Throws UsageError if
  // the checkpoint is of another model or another corpus.
  void load(const CheckpointInfo& checkpoint, Trainer& trainer, RunState& state);
  // After a rollback to this step: removes the checkpoints of later steps, if there is one of this step.
  void remove_later(int64_t step);
  // After a rollback to step 0 without a checkpoint.
  void restart_history();

  // --- the model
  // After a validation: writes a checkpoint and the model if the weights are the best. A failure is a warning.
  void keep_if_best(const Trainer& trainer, const RunState& state);
  // At the end: saves, and writes the model: the average of the last checkpoints if average_last asks for it, else the
  // best weights; also in memory. Throws Error unless all of it is on the disk.
  void finish(Trainer& trainer, const RunState& state, int64_t average_last);

 private:
  void write_checkpoint(const Trainer& trainer, const RunState& state, CheckpointReason reason);
  void cut_history(int64_t bytes, int64_t first_step);
  void warn_if_bits_change(const nlohmann::json& saved, const Trainer& trainer, const RunState& state) const;
  RunModel read_average(Trainer& trainer, int64_t average_last) const;
  RunModel read_best(Parameters& parameters, int64_t best_step) const;

  std::string folder_;
  std::string corpus_;
  bool writes_;
  int processes_;
  std::unique_ptr<RunLock> lock_;
  Checkpoints checkpoints_;
  std::unique_ptr<MetricsLog> log_;
  std::unique_ptr<TensorBoardWriter> board_;
  int64_t saved_step_ = -1, failed_step_ = -1;
  CheckpointReason saved_reason_ = CheckpointReason::extra;
  // The best weights, while the disk has refused both model and checkpoint.
  std::vector<float> unwritten_best_;
};

}  // namespace dragoman::internal
