#include "train/run_limits.h"

#include <algorithm>

#include <fmt/format.h>

namespace dragoman::internal {

std::string reached_limit(const Recipe& recipe, const RunState& state, int64_t steps) {
  const TrainingConfig& t = recipe.training;
  const int64_t patience = recipe.validation.patience;
  if (t.max_epochs > 0 && state.position.epoch >= t.max_epochs) return "training.max_epochs";
  if (t.max_steps > 0 && steps >= t.max_steps) return "training.max_steps";
  if (t.max_minutes > 0 && state.seconds >= 60 * t.max_minutes) return "training.max_minutes";
  if (patience > 0 && state.validations.without_improvement >= patience) return "validation.patience";
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
  if (batches_in_epoch > 0) {
    const double of_epoch = static_cast<double>(state.position.index) / static_cast<double>(batches_in_epoch);
    add(static_cast<double>(t.max_epochs),
        static_cast<double>(state.position.epoch) + std::min(of_epoch, 1.0));
  }
  return done;
}

std::string end_message(const Recipe& recipe, const RunState& state, int64_t steps, int64_t began_at) {
  const std::string limit = reached_limit(recipe, state, steps);
  if (steps == began_at) {
    return fmt::format("training already ended at step {}, where {} was reached: raise it to train longer",
                       steps, limit);
  }
  if (limit != "validation.patience")
    return fmt::format("training ended at step {}: {} is reached", steps, limit);
  return fmt::format(
      "training stopped early at step {}: {} validations without improvement since step {} ({})", steps,
      state.validations.without_improvement, state.validations.best_step, limit);
}

}  // namespace dragoman::internal
