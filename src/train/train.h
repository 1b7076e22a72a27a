// Training, from a recipe to a model folder.
#pragma once

#include <iosfwd>

#include "train/run.h"

namespace dragoman {

// Results (the copy task's example) go to `results`; progress goes to the log.
void run_training(const Recipe& recipe, const RunOptions& options, Processes& processes,
                  std::ostream& results);

}  // namespace dragoman
