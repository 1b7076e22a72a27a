// Validation: how good the model is now, on sentences that it does not learn from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/recipe.h"
#include "train/task.h"
#include "train/trainer.h"

namespace dragoman {

struct Validation {
  LossSums sums;
  double bleu = -1, chrf = -1;            // −1: not asked for
  std::vector<std::string> translations;  // of all sentences; of the first ones where nothing measures them
  double seconds = 0;

  double loss() const { return sums.unsmoothed / static_cast<double>(sums.target_tokens); }
};

// Nothing where a signal asks to stop (base/signals.h): what was done until then is lost.
std::optional<Validation> validate_model(Transformer& model, Trainer& trainer, const Task& task,
                                         const ValidationConfig& config);

}  // namespace dragoman
