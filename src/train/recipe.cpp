#include "train/recipe.h"

namespace dragoman {
namespace {

void declare(Options& options, TrainingConfig& c) {
  const Range fraction = at_least(0).below(1);
  auto training = options.section("training", "How to learn");
  training.add("accumulate", c.accumulate, "batches whose gradients make one update", at_least(1));
  training.add("beta1", c.beta1, "Adam's decay of the mean gradient", fraction);
  training.add("beta2", c.beta2, "Adam's decay of the mean squared gradient", fraction);
  training.add("epsilon", c.epsilon, "Adam's addition to the root", above(0));
  training.add("schedule", c.schedule,
               "of the learning rate; noam: factor * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)",
               {{"noam", Schedule::noam}});
  training.add("factor", c.factor, "of the schedule", above(0));
  training.add("warmup", c.warmup, "updates until the learning rate falls", at_least(1));
  training.add("label_smoothing", c.label_smoothing, "probability moved from the right word to others",
               fraction);
  training.add("smoothing_over", c.smoothing_over,
               "where it goes: to all words, the right one included, or to the others only",
               {{"all", SmoothingOver::all}, {"others", SmoothingOver::others}});
  training.add("clip_norm", c.clip_norm, "largest norm of an update's mean gradient; 0: no limit",
               at_least(0));
  training.add("max_epochs", c.max_epochs, "epochs to train; 0: no limit", at_least(0));
  training.add("max_steps", c.max_steps, "updates to train; 0: no limit", at_least(0));
  training.add("seed", c.seed, "of parameters, dropout and data", at_least(0));
  training.add("threads", c.threads, "processors to use; 0: all", at_least(0).at_most(1024));
}

}  // namespace

void declare(Options& options, Recipe& recipe) {
  declare(options, recipe.data);
  declare(options, recipe.vocabulary);
  declare(options, recipe.model);
  declare(options, recipe.training);
}

void validate(const Recipe& recipe) {
  Recipe copy = recipe;
  Options options;
  declare(options, copy);
  options.check_values();
  validate(recipe.data);
  validate(recipe.vocabulary);
  validate(recipe.model);
  const int64_t longest = longest_sentence(recipe.data);
  if (recipe.model.positions == Positions::learned && recipe.model.max_positions < longest) {
    throw OptionError("model.max_positions",
                      fmt::format("is {}, but sentences may have {} pieces and their end mark: they need "
                                  "as many learned positions",
                                  recipe.model.max_positions, longest - 1));
  }
  if (recipe.training.max_epochs == 0 && recipe.training.max_steps == 0) {
    throw OptionError("training.max_epochs",
                      "and training.max_steps are both 0, so that training would never end: "
                      "set one of them");
  }
}

}  // namespace dragoman
