// Where a run ends: at the first of its recipe's limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "train/recipe.h"
#include "train/run_state.h"

namespace dragoman::internal {

// The option whose limit is reached, such as "training.max_steps"; empty: none.
std::string reached_limit(const Recipe& recipe, const RunState& state, int64_t steps);

// Fraction done, 0 to 1, by the nearest limit. Empty if only patience ends the run. `batches_in_epoch` may be an
// estimate; 0: unknown.
std::optional<double> fraction_done(const Recipe& recipe, const RunState& state, int64_t steps,
                                    int64_t batches_in_epoch);

// What the log says at the end. `began_at`: the step at which the program started.
std::string end_message(const Recipe& recipe, const RunState& state, int64_t steps, int64_t began_at);

}  // namespace dragoman::internal
