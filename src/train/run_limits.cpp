#include "train/run_limits.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dragoman::internal {

std::string reached_limit(const Recipe& recipe, const RunState& state, int64_t steps) {
  const TrainingConfig& t = recipe.training;
  const int64_t patience = recipe.validation.patience;
  if (t.max_epochs > 0 && state.position.epoch >= t.max_epochs) return "training.max_epochs";
  if (t.max_steps > 0 && steps >= t.max_steps) return "training.max_steps";
  if (t.max_minutes > 0 && state.seconds >= 60 * t.max_minutes) return "training.max_minutes";
  if (patience > 0 && state.validations.without_improvement >= patience) return "validation.patience";
  const double cooled_down = end_of_early_cooldown(recipe, state);
  if (cooled_down > 0 && static_cast<double>(steps) >= cooled_down) return "validation.patience";
  return "";
}

std::optional<double> fraction_done(const Recipe& recipe, const RunState& state, int64_t steps,
                                    int64_t batches_in_epoch) {
  const TrainingConfig& t = recipe.training;
  std::optional<double> done;
  const auto add = [&](double limit, double reached) {
    if (limit > 0) done = std::max(done.value_or(0), std::min(reached / limit, 1.0));
  };
  add(static_cast<double>(t.max_steps), static_cast<double>(steps));
  add(60 * t.max_minutes, state.seconds);
  add(end_of_early_cooldown(recipe, state), static_cast<double>(steps));
  if (batches_in_epoch > 0) {
    const double of_epoch = static_cast<double>(state.position.index) / static_cast<double>(batches_in_epoch);
    add(static_cast<double>(t.max_epochs),
        static_cast<double>(state.position.epoch) + std::min(of_epoch, 1.0));
  }
  return done;
}

bool early_cooldown_is_due(const Recipe& recipe, const RunState& state, std::optional<double> done) {
  const int64_t patience = recipe.validation.patience;
  const double share = recipe.training.cooldown;
  return patience > 0 && state.validations.without_improvement >= patience && share > 0 &&
         end_of_early_cooldown(recipe, state) == 0 && done.value_or(0) < 1 - share;
}

// More patience than then, or no cooldown, lets the run go on.
double end_of_early_cooldown(const Recipe& recipe, const RunState& state) {
  const double share = recipe.training.cooldown;
  const int64_t patience = recipe.validation.patience;
  if (patience == 0 || patience > state.cooldown.patience || share == 0 || share == 1) return 0;
  return std::ceil(static_cast<double>(state.cooldown.step) / (1 - share));
}

std::string end_message(const Recipe& recipe, const RunState& state, int64_t steps, int64_t began_at) {
  const std::string limit = reached_limit(recipe, state, steps);
  if (steps == began_at) {
    return fmt::format("training already ended at step {}, where {} was reached: raise it to train longer",
                       steps, limit);
  }
  if (limit != "validation.patience")
    return fmt::format("training ended at step {}: {} is reached", steps, limit);
  if (state.validations.without_improvement < recipe.validation.patience)
    return fmt::format("training ended at step {}, cooled down since step {} ({})", steps,
                       state.cooldown.step, limit);
  return fmt::format(
      "training stopped early at step {}: {} validations without improvement since step {} ({})", steps,
      state.validations.without_improvement, state.validations.best_step, limit);
}

}  // namespace dragoman::internal
