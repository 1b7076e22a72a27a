#include "train/recipe.h"

#include <algorithm>
#include <filesystem>

namespace dragoman {
namespace {

void declare(Options& options, TrainingConfig& c) {
  const Range fraction = at_least(0).below(1);
  auto training = options.section("training", "How to learn");
  training.add("batch_tokens", c.batch_tokens,
               "tokens of a batch's larger side; auto: as many as fit the memory, found once and kept",
               at_least(1).at_most(10'000'000), {"auto", automatic_batch_tokens});
  training.add("part_tokens", c.part_tokens,
               "tokens of a batch's larger side that are worked on at once; more take memory, far fewer take "
               "time; 0: all",
               at_least(0));
  training.add("accumulate", c.accumulate, "batches of each process whose gradients make one update",
               at_least(1));
  training.add("optimizer", c.optimizer, "adamw: with weight_decay",
               {{"adam", Optimizer::adam}, {"adamw", Optimizer::adamw}});
  training.add("learning_rate", c.learning_rate, "the largest one, for every schedule but noam", above(0));
  training.add("weight_decay", c.weight_decay, "adamw's pull of the weights towards 0", at_least(0));
  training.add("beta1", c.beta1, "Adam's decay of the mean gradient", fraction);
  training.add("beta2", c.beta2, "Adam's decay of the mean squared gradient", fraction);
  training.add("epsilon", c.epsilon, "Adam's addition to the root", above(0));
  training.add("schedule", c.schedule,
               "of the learning rate; noam: factor * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)",
               {{"noam", Schedule::noam},
                {"inverse_sqrt", Schedule::inverse_sqrt},
                {"cosine", Schedule::cosine},
                {"constant", Schedule::constant}});
  training.add("factor", c.factor, "of the noam schedule", above(0));
  training.add("warmup", c.warmup, "updates until the learning rate falls", at_least(1));
  training.add("label_smoothing", c.label_smoothing, "probability moved from the right word to others",
               fraction);
  training.add("smoothing_over", c.smoothing_over,
               "where it goes: to all words, the right one included, or to the others only",
               {{"all", SmoothingOver::all}, {"others", SmoothingOver::others}});
  training.add("clip_norm", c.clip_norm, "largest norm of an update's mean gradient; 0: no limit",
               at_least(0));
  training.add("ema", c.ema,
               "decay of a moving average of the weights, which is validated and saved; 0: none", fraction);
  training.add("average_last", c.average_last, "checkpoints whose weights are averaged at the end; 0: none",
               at_least(0));
  training.add("max_steps", c.max_steps, "updates to train; 0: no limit", at_least(0));
  training.add("max_epochs", c.max_epochs, "epochs to train; 0: no limit", at_least(0));
  training.add("max_minutes", c.max_minutes, "minutes to train, over all resumes; 0: no limit", at_least(0));
  training.add("seed", c.seed, "of parameters, dropout and data", at_least(0));
  training.add("precision", c.precision,
               "of matrix products' operands; bf16: rounded from 32 bits, which everything else keeps",
               {{"fp32", Precision::fp32}, {"bf16", Precision::bf16}});
  training.add("threads", c.threads, "processors to use; 0: all, or a process's share of its machine's",
               at_least(0).at_most(1024));
  training.add("reduce_as", c.reduce_as, "what gradients travel as between processes",
               {{"fp32", Wire::fp32}, {"bf16", Wire::bf16}});
  training.add("heartbeat_timeout", c.heartbeat_timeout,
               "seconds without a sign of life after which a process is given up, and training stops",
               at_least(2));
}

void declare(Options& options, ValidationConfig& c) {
  auto validation = options.section("validation", "How to watch it learn");
  validation.add("every", c.every, "updates between validations; 0: once an epoch", at_least(0));
  validation.add("metrics", c.metrics, "any of loss, bleu, chrf; the last two translate the validation set");
  validation.add("beam", c.beam, "hypotheses that translating follows at once; 1: greedy",
                 at_least(1).at_most(1000));
  validation.add("samples", c.samples, "translations shown each time", at_least(0).at_most(1000));
  validation.add("patience", c.patience, "validations without improvement before training stops; 0: no limit",
                 at_least(0));
  validation.add("keep_best_by", c.keep_best_by, "what the best checkpoint is best at",
                 {{"loss", KeepBestBy::loss},
                  {"bleu", KeepBestBy::bleu},
                  {"chrf", KeepBestBy::chrf},
                  {"train_loss", KeepBestBy::train_loss}});
}

void declare(Options& options, CheckpointsConfig& c) {
  auto checkpoints = options.section("checkpoints", "How to be able to go on");
  checkpoints.add("every", c.every, "updates between checkpoints; 0: at each validation", at_least(0));
  checkpoints.add("keep", c.keep, "newest checkpoints that are kept, beside the best", at_least(1));
}

bool has_validation_set(const DataConfig& data) {
  if (data.synthetic != Synthetic::none) return data.valid_batches > 0;
  return data.hold_out > 0 || !data.valid_source.empty();
}

void check_validation(const ValidationConfig& c, const DataConfig& data) {
  for (const std::string& metric : c.metrics) {
    if (metric != "loss" && metric != "bleu" && metric != "chrf") {
      throw OptionError("validation.metrics",
                        "has \"" + metric + "\", but there are only loss, bleu and chrf");
    }
  }
  const auto has = [&](const char* metric) { return std::ranges::count(c.metrics, metric) > 0; };
  if ((c.keep_best_by == KeepBestBy::bleu && !has("bleu")) ||
      (c.keep_best_by == KeepBestBy::chrf && !has("chrf"))) {
    throw OptionError("validation.keep_best_by", "names a metric that validation.metrics does not have");
  }
  if ((c.keep_best_by == KeepBestBy::bleu || c.keep_best_by == KeepBestBy::chrf) &&
      !has_validation_set(data)) {
    throw OptionError(
        "validation.keep_best_by",
        "needs a validation set: name data.valid_source and data.valid_target, set data.hold_out, "
        "or take train_loss");
  }
}

// One matrix for both sides: a row of it must be the same word on both.
void check_tied(const Recipe& recipe) {
  if (recipe.model.tied != Tied::all || recipe.data.synthetic != Synthetic::none) return;
  const std::string& from = recipe.vocabulary.from;
  const auto has = [&](const char* name) {
    return std::filesystem::exists(std::filesystem::path(from) / name);
  };
  const bool separate = from.empty() ? !recipe.vocabulary.shared : has("source.spm") && !has("shared.spm");
  if (!separate) return;
  throw OptionError("model.tied",
                    "is all, but source and target have a vocabulary each: set vocabulary.shared (or name a "
                    "folder with a shared.spm in vocabulary.from), or tie the output alone");
}

}  // namespace

void declare(Options& options, Recipe& recipe) {
  declare(options, recipe.data);
  declare(options, recipe.vocabulary);
  declare(options, recipe.model);
  declare(options, recipe.training);
  declare(options, recipe.validation);
  declare(options, recipe.checkpoints);
}

void validate(const Recipe& recipe) {
  Recipe copy = recipe;
  Options options;
  declare(options, copy);
  options.check_values();
  validate(recipe.data);
  validate(recipe.vocabulary);
  validate(recipe.model);
  const int64_t longest = max_sentence_length(recipe.data);
  if (recipe.model.positions == Positions::learned && recipe.model.max_positions < longest) {
    throw OptionError("model.max_positions",
                      fmt::format("is {}, but sentences may have {} pieces and their end mark: they need "
                                  "as many learned positions",
                                  recipe.model.max_positions, longest - 1));
  }
  check_tied(recipe);
  check_validation(recipe.validation, recipe.data);
  const TrainingConfig& training = recipe.training;
  if (training.max_epochs == 0 && training.max_steps == 0 && training.max_minutes == 0 &&
      recipe.validation.patience == 0) {
    throw OptionError(
        "training.max_epochs",
        "and training.max_steps, training.max_minutes and validation.patience are all 0, so that "
        "training would never end: set one of them");
  }
  if (training.batch_tokens == automatic_batch_tokens && recipe.data.synthetic != Synthetic::none) {
    throw OptionError(
        "training.batch_tokens",
        "is auto, but made-up batches have data.sentences of data.length, however large they are");
  }
  if (training.schedule == Schedule::cosine && training.max_steps == 0) {
    throw OptionError("training.schedule", "is cosine, which needs training.max_steps to know where it ends");
  }
}

}  // namespace dragoman
