// Training, from a recipe to a model folder, in one call.
#pragma once

#include <iosfwd>

#include "train/run.h"

namespace dragoman::internal {

// `recipe`: validated. Writes to `results` an example of a synthetic task; progress goes to the log and the observer.
void run_training(const Recipe& recipe, const RunOptions& options, Processes& processes,
                  std::ostream& results, TrainingObserver observer = {});

}  // namespace dragoman::internal
