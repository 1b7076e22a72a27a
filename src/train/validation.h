// Validation: how good the model is now, on sentences that it does not learn from.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "train/observer.h"
#include "train/recipe.h"
#include "train/run_state.h"
#include "train/task.h"
#include "train/trainer.h"

namespace dragoman::internal {

struct Validation {
  LossSums sums;
  std::optional<double> bleu, chrf, exact_match;  // if the configuration asks for them
  std::vector<std::string> translations;  // of all sentences; of the first ones if no metric needs the rest

  double loss() const { return sums.unsmoothed_per_token(); }
};

// Nothing if `stop_requested`, asked again and again, becomes true: an interrupted validation is lost.
std::optional<Validation> validate_model(
    Trainer& trainer, const Task& task, const ValidationConfig& config,
    const std::function<bool()>& stop_requested = [] { return false; });

// The same in a run: of the weights for use, by task.recipe. Records in `state` whether this is the best one so far.
std::optional<ValidationReport> validate(Trainer& trainer, const Task& task, RunState& state,
                                         const std::function<bool()>& stop_requested);

}  // namespace dragoman::internal
