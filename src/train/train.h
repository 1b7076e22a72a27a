// Training, from a recipe to the last epoch.
#pragma once

#include <iosfwd>

#include "train/recipe.h"

namespace dragoman {

// Results (losses by epoch, the final decode) go to `results`; progress goes to the log.
void run_training(const Recipe& recipe, std::ostream& results);

}  // namespace dragoman
