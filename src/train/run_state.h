// RunState: what a checkpoint holds besides the weights and moments. Together they decide all later steps, so that a
// resumed run ends with the same weights as an uninterrupted one.
#pragma once

#include <cstdint>
#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "data/batch_source.h"
#include "train/divergence.h"
#include "train/recipe.h"
#include "train/trainer.h"

namespace dragoman::internal {

// Which validation was the best, by the value that the recipe names. Processes exchange it as bytes.
struct ValidationRecord {
  int64_t last_step = -1;  // of the last validation
  int64_t best_step = -1;
  double best_value = 0;
  int64_t without_improvement = 0;    // validations since the best one
  std::optional<KeepBestBy> by = {};  // none: as earlier versions saved it

  // True if this is the best one so far, which NaN never is. Begins anew where the values were of another kind.
  bool add(int64_t step, double value, KeepBestBy by);
};

// The cooldown that began because patience had run out.
struct EarlyCooldown {
  int64_t step = 0;      // at which it began; 0: it has not
  int64_t patience = 0;  // validations without improvement until then
};

// What the run in this folder goes by, whose checkpoints of earlier versions do not say so.
std::optional<KeepBestBy> saved_best_by(const std::string& folder);

struct RunState {
  DataPosition position;
  double seconds = 0;    // of training, over all resumes
  LossSums recent_sums;  // since the last validation
  LossSums epoch_sums;   // since the epoch began
  double recent_seconds = 0;
  double validated_seconds = 0;  // `seconds` at the last validation
  ValidationRecord validations;
  EarlyCooldown cooldown;
  int64_t batches_per_update = 0;  // of all processes together; kept when their number changes
  int64_t batches_in_epoch = 0;    // of the last whole epoch; 0: there was none yet
  DivergenceGuard guard;

  // Counted from 1. At the end of an epoch the position is already in the next one.
  int64_t epoch() const { return position.epoch + (position.index > 0 ? 1 : 0); }

  nlohmann::json to_json() const;
  void from_json(const nlohmann::json& saved);
};

}  // namespace dragoman::internal
