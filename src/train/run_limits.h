// Where a run ends: at the first of its recipe's limits. Where patience runs out before the cooldown, it begins that,
// and the run ends so much sooner that the cooldown is the same share of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "train/recipe.h"
#include "train/run_state.h"

namespace dragoman::internal {

// The option whose limit is reached, such as "training.max_steps"; empty: none.
std::string reached_limit(const Recipe& recipe, const RunState& state, int64_t steps);

// Fraction done, 0 to 1, by the nearest limit. Empty if only patience ends the run, and has not run out.
// `batches_in_epoch` may be an estimate; 0: unknown.
std::optional<double> fraction_done(const Recipe& recipe, const RunState& state, int64_t steps,
                                    int64_t batches_in_epoch);

// Whether patience has run out before the cooldown, of a run of which the fraction `done` is done.
bool early_cooldown_is_due(const Recipe& recipe, const RunState& state, std::optional<double> done);

// The step at which a cooldown that patience began ends, and with it the run; 0: there is none.
double end_of_early_cooldown(const Recipe& recipe, const RunState& state);

// What the log says at the end. `began_at`: the step at which the program started.
std::string end_message(const Recipe& recipe, const RunState& state, int64_t steps, int64_t began_at);

}  // namespace dragoman::internal
