// Checkpoints: whole or absent.
//
// A checkpoint is a folder with a name of its own, which is never written again: files first, each flushed to the
// disk, then manifest.json with their sizes and checksums. A folder without a manifest that fits is not there.
// So a kill at any instant costs at most what was done since the last one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/safetensors.h"

namespace dragoman {

// One tensors file of a checkpoint.
struct CheckpointFile {
  std::string name;
  std::vector<TensorEntry> entries;
};

// on_schedule: an undisturbed run has it, too. extra: it is there to go on from, since a signal stopped the run there,
// or it ended.
enum class CheckpointReason { on_schedule, extra };

struct CheckpointInfo {
  int64_t step;
  std::string path;
  CheckpointReason reason = CheckpointReason::on_schedule;
};

class Checkpoints {
 public:
  // The newest `keep` of those on schedule are kept, whichever is protected, and the newest of all.
  Checkpoints(std::string folder, int64_t keep) : folder_(std::move(folder)), keep_(keep) {}

  // Writes one. Throws Error where the disk refuses, and leaves nothing of it.
  void save(int64_t step, const nlohmann::json& state, const std::vector<CheckpointFile>& files,
            CheckpointReason reason = CheckpointReason::on_schedule) const;

  // The whole ones, one a step, the newest last. Checksums are compared when one is opened.
  std::vector<CheckpointInfo> list() const;

  // The newest whose files are what its manifest says; damaged ones are passed over with a warning.
  std::optional<CheckpointInfo> newest() const;

  // The same among those of one step.
  std::optional<CheckpointInfo> of_step(int64_t step) const;

  // The same among those on schedule, of steps before this one.
  std::optional<CheckpointInfo> newest_before(int64_t step) const;

  // Those of later steps are of a course that is given up.
  void remove_after(int64_t step) const;

  // Removes all but the newest and those of the protected steps, and what crashes have left.
  void prune(const std::vector<int64_t>& protected_steps) const;

  static nlohmann::json read_state(const CheckpointInfo& checkpoint);

 private:
  std::string folder_;
  int64_t keep_;
};

}  // namespace dragoman
