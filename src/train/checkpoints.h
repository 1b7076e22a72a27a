// Checkpoints: complete or absent.
//
// A checkpoint is a folder that is written once: first the files, each flushed to the disk and read back, then
// manifest.json with their sizes and checksums. A folder without a matching manifest does not count. So a kill at any
// instant loses at most the steps since the last checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/safetensors.h"

namespace dragoman::internal {

// One tensors file of a checkpoint.
struct CheckpointFile {
  std::string name;
  std::vector<TensorEntry> entries;
};

// on_schedule: an uninterrupted run has it, too. extra: only to resume from, where the run was stopped or ended.
enum class CheckpointReason { on_schedule, extra };

struct CheckpointInfo {
  int64_t step;
  std::string path;
  CheckpointReason reason = CheckpointReason::on_schedule;
  int64_t best_step = -1;  // of the best weights then, which the checkpoint of that step has; −1: none
};

struct CheckpointDefect {
  std::string path;
  std::string defect;  // empty if there is none
};

class Checkpoints {
 public:
  // prune() keeps the newest `keep` on schedule, the newest of all, and those with the best weights of any of them.
  Checkpoints(std::string folder, int64_t keep) : folder_(std::move(folder)), keep_(keep) {}

  // Throws Error if the disk refuses, and then leaves nothing behind.
  void save(int64_t step, const nlohmann::json& state, const std::vector<CheckpointFile>& files,
            CheckpointReason reason = CheckpointReason::on_schedule, int64_t best_step = -1) const;

  // The complete ones, one per step, the newest last. Checksums are not verified.
  std::vector<CheckpointInfo> list() const;

  // The newest one whose checksums match and whose numbers are finite; others are skipped with a warning.
  std::optional<CheckpointInfo> newest() const;

  // The same among those of one step.
  std::optional<CheckpointInfo> of_step(int64_t step) const;

  // The same among those on schedule, of steps before this one.
  std::optional<CheckpointInfo> newest_before(int64_t step) const;

  // Removes checkpoints of later steps, after a rollback or because they are damaged.
  void remove_after(int64_t step) const;

  // After a save: removes all others, and what crashes have left behind, but no complete one that is damaged.
  void prune() const;

  // All complete ones, the newest last, with what their checksums say.
  std::vector<CheckpointDefect> verify() const;

  // The folders of those that were never finished, or whose removal was interrupted.
  std::vector<std::string> incomplete() const;

  static nlohmann::json read_state(const CheckpointInfo& checkpoint);

 private:
  std::string folder_;
  int64_t keep_;
};

// Throws an Error if the file is one of a checkpoint and not as the manifest beside it says.
void verify_checkpoint_file(const std::string& path);

// Whether a run has left some in its model's folder.
bool has_checkpoints(const std::string& model_folder);

}  // namespace dragoman::internal
