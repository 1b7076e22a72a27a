#include "adapt/tuning.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "model/folder.h"
#include "search/saved_model.h"
#include "student/stages.h"
#include "student/teaching.h"
#include "train/run.h"

namespace dragoman::internal {
namespace {

constexpr int64_t validates_every = 50, patience_of_tuning = 5;

// What the model was trained with, as far as its folder says: an imported one has no more than its lengths and marks.
Recipe recipe_of_model(const std::string& folder) {
  const nlohmann::json config = read_config(folder);
  Recipe recipe;
  Options options;
  declare(options, recipe);
  if (config.contains("recipe"))
    options.from_json(config.at("recipe"), folder + "/config.json", UnknownKeys::ignore);
  recipe.model = read_model_config(folder, config);
  return recipe;
}

// How often an epoch has each general pair, for their share of all to be the wanted one.
double weight_of_general(double share, const SplitText& segments, const SplitText& general) {
  return share / (1 - share) * static_cast<double>(count_lines(segments.source)) /
         static_cast<double>(count_lines(general.source));
}

// Of the sentences that are learned, in subwords: as long as the model was trained with, and has positions for.
int64_t max_length_of(DataConfig data, const ModelConfig& model) {
  if (!has_fixed_length(model.positions)) return data.max_length;
  return data.max_length - std::max<int64_t>(0, max_sentence_length(data) - model.max_positions);
}

DataConfig data_of(const AdaptConfig& config, const Recipe& of_model, const SplitText& segments,
                   const SplitText& general) {
  DataConfig data;
  data.source = {segments.source, general.source};
  data.target = {segments.target, general.target};
  data.format = TextFormat::text;
  data.weights = {1, weight_of_general(config.general_share, segments, general)};
  data.valid_source = {segments.held_out_source};
  data.valid_target = {segments.held_out_target};
  data.from = config.segments.from;
  data.to = config.segments.to;
  data.max_length = of_model.data.max_length;
  data.max_length = max_length_of(data, of_model.model);
  data.sample = 0;
  return data;
}

// The fewer weights change, the larger their steps must be to change the model as much.
double learning_rate_for(Trainable weights) { return weights == Trainable::all ? 1e-3 : 1e-2; }

TrainingConfig training_of(const AdaptConfig& config, Trainable weights, const TrainingConfig& of_model) {
  TrainingConfig training;
  training.batch_tokens = 2048;
  training.learning_rate = config.learning_rate > 0 ? config.learning_rate : learning_rate_for(weights);
  training.schedule = Schedule::constant;
  if (config.max_steps > 0 || config.max_minutes > 0) training.cooldown = 1;
  training.clip_norm = 1;
  training.ema = 0.99;  // without it, and at a constant rate, noise alone costs several BLEU on all text
  training.label_smoothing = of_model.label_smoothing;
  training.smoothing_over = of_model.smoothing_over;
  training.trainable = weights;
  training.rank = config.rank;
  training.max_steps = config.max_steps;
  training.max_minutes = config.max_minutes;
  training.seed = config.seed;
  training.device = config.device;
  training.threads = config.threads;
  training.precision = TrainingPrecision::automatic;
  return training;
}

}  // namespace

Recipe tuning_recipe(const AdaptConfig& config, Trainable weights, const SplitText& segments,
                     const SplitText& general) {
  Recipe recipe = recipe_of_model(config.model);
  recipe.data = data_of(config, recipe, segments, general);
  recipe.vocabulary.from = config.model;
  recipe.training = training_of(config, weights, recipe.training);
  recipe.validation = {.every = config.max_steps > 0
                                    ? std::clamp<int64_t>(config.max_steps / 10, 1, validates_every)
                                    : validates_every,
                       .metrics = {"loss", "bleu"},
                       .samples = 0,
                       .patience = patience_of_tuning,
                       .keep_best_by = KeepBestBy::bleu};
  recipe.checkpoints = {.every = 0, .keep = 1};
  validate(recipe);
  return recipe;
}

void tune(const Recipe& recipe, const AdaptConfig& config, Stage& stage) {
  if (stage.is_done() && stage.report().at("limits") == limits_of(recipe)) return;
  stage.reopen();
  rename_files_of_run(recipe, stage.folder());
  Run run(recipe, {.folder = stage.folder(), .init_from = config.model});
  run.train();
  stage.finish({{"steps", run.steps()}, {"limits", limits_of(recipe)}});
}

}  // namespace dragoman::internal
