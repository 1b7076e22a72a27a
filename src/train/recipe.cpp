#include "train/recipe.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "base/quotes.h"
#include "model/folder.h"
#include "search/attention.h"
#include "text/vocabulary.h"

namespace dragoman::internal {
namespace {

const Range fraction = at_least(0).below(1);

void declare_optimizer(Section& training, TrainingConfig& c) {
  training.add("optimizer", c.optimizer,
               "adamw: Adam with decoupled weight decay; muon: the matrices of layers move by their momentum "
               "made orthogonal, and learn from fewer updates; all else by Adam",
               {{"adam", Optimizer::adam}, {"adamw", Optimizer::adamw}, {"muon", Optimizer::muon}});
  training.add("learning_rate", c.learning_rate, "peak learning rate of every schedule but noam", above(0));
  training.add("weight_decay", c.weight_decay, "weight decay of adamw", at_least(0));
  training.add("beta1", c.beta1, "Adam's decay of the mean gradient", fraction);
  training.add("beta2", c.beta2, "Adam's decay of the mean squared gradient", fraction);
  training.add("epsilon", c.epsilon, "added to the root of the mean squared gradient", at_least(1e-30));
  training.add("momentum", c.momentum, "muon's decay of the mean gradient", fraction);
  training.add("matrix_rate", c.matrix_rate, "muon's learning rate of matrices, in units of the others'",
               above(0));
  training.add("schedule", c.schedule,
               "learning rate schedule; noam: factor * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)",
               {{"noam", Schedule::noam},
                {"inverse_sqrt", Schedule::inverse_sqrt},
                {"cosine", Schedule::cosine},
                {"constant", Schedule::constant}});
  training.add("factor", c.factor, "factor of the noam schedule", above(0));
  training.add("warmup", c.warmup, "updates over which the learning rate rises; not of constant",
               at_least(1));
  training.add(
      "cooldown", c.cooldown,
      "last part of the run, by the nearest of its limits, in which the learning rate falls linearly to "
      "0; validation.patience begins it; 0: none",
      at_least(0).at_most(1));
}

void declare_guided_alignment(Section& training, TrainingConfig& c) {
  training.add(
      "guided_alignment", c.guided_alignment,
      "weight of guided alignment's loss, by which one head learns the links of a word aligner between "
      "subwords; 0: none",
      at_least(0));
  training.add(
      "guided_layer", c.guided_layer,
      "decoder layer, from 1 on, whose first head of cross-attention learns the links; 0: the last but one",
      at_least(0));
}

void declare_limits(Section& training, TrainingConfig& c) {
  training.add("max_steps", c.max_steps, "updates to train; 0: no limit", at_least(0)).may_change_on_resume();
  training.add("max_epochs", c.max_epochs, "epochs to train; 0: no limit", at_least(0))
      .may_change_on_resume();
  training.add("max_minutes", c.max_minutes, "minutes to train, over all resumes; 0: no limit", at_least(0))
      .may_change_on_resume();
}

void declare_weights(Section& training, TrainingConfig& c) {
  training.add("weights", c.weights,
               "weights that training and validation compute with; int8: rounded as dragoman quantize does, "
               "while gradients change the fp32 weights, so that the int8 model loses less",
               {{"fp32", TrainedWeights::fp32}, {"int8", TrainedWeights::int8}});
  training.add("trainable", c.trainable,
               "parameters that training changes; biases: only biases and norms, about a thousandth of all; "
               "low_rank: these, and updates of low rank that are added to matrices",
               {{"all", Trainable::all}, {"biases", Trainable::biases}, {"low_rank", Trainable::low_rank}});
  training.add("rank", c.rank, "of low-rank updates", at_least(1).at_most(1024));
}

void declare(Options& options, TrainingConfig& c) {
  auto training = options.section("training", "Optimisation, and how long to train");
  training.add("batch_tokens", c.batch_tokens,
               "tokens of a batch's larger side; auto: as many as fit in memory, measured once and kept",
               at_least(1).at_most(10'000'000), {"auto", automatic_batch_tokens});
  training
      .add("part_tokens", c.part_tokens,
           "tokens of the larger side to process at once: more use more memory, far fewer are slower; 0: the "
           "whole batch; auto: 2048 on a processor, and the whole batch on a GPU that has the memory for it",
           at_least(0), {"auto", automatic_part_tokens})
      .historical_default(int64_t{0});  // batches were processed whole
  training.add("accumulate", c.accumulate,
               "batches per process whose gradients are accumulated into one update", at_least(1));
  declare_optimizer(training, c);
  training.add("label_smoothing", c.label_smoothing, "probability moved from the correct word to others",
               fraction);
  training.add("smoothing_over", c.smoothing_over,
               "spread label_smoothing over all words, or only over the incorrect ones",
               {{"all", SmoothingOver::all}, {"others", SmoothingOver::others}});
  training.add("clip_norm", c.clip_norm, "largest norm of an update's mean gradient; 0: no clipping",
               at_least(0));
  training.add("ema", c.ema,
               "decay of the moving average of the weights, which is validated and saved; 0: none", fraction);
  declare_guided_alignment(training, c);
  training
      .add("average_last", c.average_last, "checkpoints whose weights are averaged at the end; 0: none",
           at_least(0))
      .may_change_on_resume();
  declare_limits(training, c);
  training.add("seed", c.seed, "seed for initialisation, dropout and data", at_least(0));
  declare_device(training, c.device).also("device").may_change_on_resume();
  training.add("precision", c.precision,
               "operands of matrix products; bf16: rounded from fp32, in which all else stays; tf32: the "
               "same, to fewer digits than fp32 and more than bf16, on GPUs alone; auto: bf16 on a GPU, else "
               "the faster on this machine, measured once and kept",
               {{"auto", TrainingPrecision::automatic},
                {"fp32", TrainingPrecision::fp32},
                {"tf32", TrainingPrecision::tf32},
                {"bf16", TrainingPrecision::bf16}});
  declare_weights(training, c);
  training
      .add("threads", c.threads, "threads to use; 0: all processors, or a process's share of its machine's",
           at_least(0).at_most(1024))
      .may_change_on_resume();
  training.add("reduce_as", c.reduce_as, "format in which processes exchange gradients",
               {{"fp32", GradientFormat::fp32}, {"bf16", GradientFormat::bf16}});
  training
      .add("heartbeat_timeout", c.heartbeat_timeout,
           "seconds without a heartbeat after which a process counts as lost, and training stops",
           at_least(2))
      .formerly("longest_silence")
      .may_change_on_resume();
}

void declare(Options& options, ValidationConfig& c) {
  auto validation = options.section("validation", "Validation during training").may_change_on_resume();
  validation.add("every", c.every, "updates between validations; 0: once per epoch, or every_minutes",
                 at_least(0));
  validation.add(
      "every_minutes", c.every_minutes,
      "minutes of training between validations, whatever the machine's speed; 0: `every` alone counts",
      at_least(0));
  validation.add(
      "metrics", c.metrics,
      "any of loss, bleu, chrf and exact_match (the percentage of outputs that are the reference); all but "
      "loss translate the validation set; language models have only loss");
  validation.add("beam", c.beam, "beam size for all metrics but loss; 1: greedy search",
                 at_least(1).at_most(1000));
  validation.add("samples", c.samples, "sample translations to record at each validation",
                 at_least(0).at_most(1000));
  validation.add("patience", c.patience,
                 "validations without improvement before training stops, or training.cooldown begins; 0: no "
                 "limit",
                 at_least(0));
  validation.add("keep_best_by", c.keep_best_by, "metric by which the best checkpoint is chosen",
                 names_of_best_by());
}

void declare(Options& options, CheckpointsConfig& c) {
  auto checkpoints = options.section("checkpoints", "Checkpoints to resume from").may_change_on_resume();
  checkpoints.add("every", c.every, "updates between checkpoints; 0: at each validation", at_least(0));
  checkpoints.add("keep", c.keep, "newest checkpoints to keep, besides the best", at_least(1));
}

void check_validation(const ValidationConfig& c, const DataConfig& data) {
  for (const std::string& metric : c.metrics) {
    if (metric != "loss" && metric != "bleu" && metric != "chrf" && metric != "exact_match") {
      throw OptionError("validation.metrics",
                        "has \"" + metric + "\", but may have only loss, bleu, chrf and exact_match");
    }
  }
  const auto lacks = [&](KeepBestBy by, const char* metric) {
    return c.keep_best_by == by && std::ranges::count(c.metrics, metric) == 0;
  };
  if (lacks(KeepBestBy::bleu, "bleu") || lacks(KeepBestBy::chrf, "chrf") ||
      lacks(KeepBestBy::exact_match, "exact_match")) {
    throw OptionError("validation.keep_best_by", "must be one of validation.metrics");
  }
  if (is_of_translations(c.keep_best_by) && !has_validation_set(data)) {
    throw OptionError(
        "validation.keep_best_by",
        "needs a validation set: name data.valid_source and data.valid_target, set data.hold_out, "
        "or take train_loss");
  }
}

// Both sides share one embedding matrix, whose rows must mean the same subwords.
void check_tied(const Recipe& recipe) {
  if (!has_shared_embedding(recipe.model) || recipe.data.synthetic != Synthetic::none) return;
  if (!has_encoder(recipe.model)) return;
  const std::string& from = recipe.vocabulary.from;
  if (from.empty() ? recipe.vocabulary.shared : read_vocabularies(from).have_same_tokens()) return;
  throw OptionError(
      "model.tied",
      "is all or inputs, but source and target have separate vocabularies: set vocabulary.shared (or name a "
      "folder whose vocabularies have the same tokens in vocabulary.from), or use none or output");
}

// A language model learns from text of one side, and translates nothing.
void check_kind(const Recipe& recipe) {
  const bool is_model_of_text = recipe.model.kind == ModelKind::language_model;
  const DataConfig& data = recipe.data;
  if (is_model_of_text && !is_one_sided(data) && data.synthetic != Synthetic::none)
    throw OptionError("data.synthetic", "makes pairs: a language model learns from data.text");
  if (is_model_of_text && !is_one_sided(data) && (!data.source.empty() || !data.tsv.empty()))
    throw OptionError("model.kind", "is language_model, which learns from data.text, not from pairs");
  if (!is_model_of_text && is_one_sided(data))
    throw OptionError("data.text", "is for language models: set model.kind to language_model");
  if (is_model_of_text && is_of_translations(recipe.validation.keep_best_by))
    throw OptionError("validation.keep_best_by", "needs translations: a language model has only a loss");
}

void check_guided_alignment(const Recipe& recipe) {
  const TrainingConfig& training = recipe.training;
  const int64_t layers = recipe.model.decoder_layers;
  if (training.guided_alignment > 0 && recipe.model.kind == ModelKind::language_model)
    throw OptionError("training.guided_alignment", "is for translations: a language model aligns nothing");
  if (training.guided_layer > layers)
    throw OptionError("training.guided_layer", fmt::format("is {}, but the decoder has {}",
                                                           training.guided_layer, counted(layers, "layer")));
  if (training.guided_layer > 0 && training.guided_alignment == 0)
    throw OptionError("training.guided_layer", "has no effect without training.guided_alignment");
}

bool has_known_end(const TrainingConfig& t) {
  return t.max_epochs > 0 || t.max_steps > 0 || t.max_minutes > 0;
}

}  // namespace

const std::vector<std::pair<std::string, KeepBestBy>>& names_of_best_by() {
  static const std::vector<std::pair<std::string, KeepBestBy>> names = {
      {"loss", KeepBestBy::loss},
      {"bleu", KeepBestBy::bleu},
      {"chrf", KeepBestBy::chrf},
      {"exact_match", KeepBestBy::exact_match},
      {"train_loss", KeepBestBy::train_loss}};
  return names;
}

bool has_validation_set(const DataConfig& data) {
  if (data.synthetic != Synthetic::none) return data.valid_batches > 0;
  return data.hold_out > 0 || has_validation_files(data);
}

void declare(Options& options, Recipe& recipe) {
  declare(options, recipe.data);
  declare(options, recipe.vocabulary);
  declare(options, recipe.model);
  declare(options, recipe.training);
  declare(options, recipe.validation);
  declare(options, recipe.checkpoints);
}

std::vector<std::string> given_keys(const Options& options) {
  std::vector<std::string> keys;
  for (const Option& option : options.all())
    if (!option.section.empty() && !option.origin.empty()) keys.push_back(option.key());
  return keys;
}

nlohmann::json saved_value(const std::string& folder, const std::string& key) {
  if (!std::filesystem::exists(folder + "/config.json")) return {};
  return read_config(folder).value(nlohmann::json::json_pointer("/recipe/" + key), nlohmann::json());
}

int64_t guided_layer(const Recipe& recipe) {
  if (recipe.training.guided_alignment == 0)
    return recipe.model.alignment_layer;  // of the weights it starts with
  const bool is_chosen = recipe.training.guided_layer > 0;
  return is_chosen ? recipe.training.guided_layer
                   : alignment_layer({.decoder_layers = recipe.model.decoder_layers}, 0);
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
  if (has_fixed_length(recipe.model.positions) && recipe.model.max_positions < longest) {
    throw OptionError("model.max_positions",
                      fmt::format("is {}, but sentences may have {} subwords and an end mark, which need "
                                  "positions, too",
                                  recipe.model.max_positions, longest - 1));
  }
  check_kind(recipe);
  check_tied(recipe);
  check_guided_alignment(recipe);
  check_validation(recipe.validation, recipe.data);
  const TrainingConfig& training = recipe.training;
  if (!has_known_end(training) && recipe.validation.patience == 0) {
    throw OptionError(
        "training.max_epochs",
        "and training.max_steps, training.max_minutes and validation.patience are all 0: set one of "
        "them, or training never ends");
  }
  if (training.batch_tokens == automatic_batch_tokens && recipe.data.synthetic != Synthetic::none) {
    throw OptionError("training.batch_tokens",
                      "is auto, but synthetic batches always have data.sentences of data.length");
  }
  if (training.trainable == Trainable::low_rank && training.average_last > 1) {
    throw OptionError("training.average_last",
                      "is for whole weights: the mean of factors is not that of their products; see dragoman "
                      "average, which adds them up first");
  }
  if (training.trainable != Trainable::all && training.optimizer != Optimizer::adam) {
    throw OptionError(
        "training.trainable",
        "is not all, which only adam can do: adamw's weight decay changes every parameter, and muon "
        "every matrix");
  }
  if (training.cooldown == 1 && !has_known_end(training)) {
    throw OptionError("training.cooldown",
                      "is 1, all of the run: it needs training.max_steps, max_epochs or max_minutes to know "
                      "where that ends");
  }
  if (training.schedule == Schedule::cosine && training.max_steps == 0) {
    throw OptionError("training.schedule", "is cosine, which needs training.max_steps to know where it ends");
  }
}

}  // namespace dragoman::internal
