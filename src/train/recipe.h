// A recipe: all settings of a training run, one struct for each table of the TOML file.
//
// recipes/ holds commented examples.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/options.h"
#include "data/corpus_config.h"
#include "model/config.h"
#include "parallel/processes.h"
#include "tensor/device_option.h"
#include "text/vocabulary_config.h"
#include "train/schedule.h"

namespace dragoman::internal {

// adamw: weight decay is applied to the weights directly, not through the gradient's moments. muon: train/muon.h for
// matrices, Adam for all else.
enum class Optimizer { adam, adamw, muon };

// The metric that chooses `best`. train_loss is for runs without a validation set.
enum class KeepBestBy { loss, bleu, chrf, exact_match, train_loss };
const std::vector<std::pair<std::string, KeepBestBy>>& names_of_best_by();

// Of the metrics, all that compare translations with references are better the higher they are.
inline bool is_of_translations(KeepBestBy by) {
  return by != KeepBestBy::loss && by != KeepBestBy::train_loss;
}

// Of the operands of matrix products; automatic until a run begins, see precision_choice.h.
enum class TrainingPrecision { automatic, fp32, tf32, bf16 };

// Whether training's passes have the weights as they are, or as their int8 model will: see trainer.h.
enum class TrainedWeights { fp32, int8 };

// Which parameters training changes. biases: those of linear layers, and the norms' gains and biases (BitFit: Ben Zaken
// et al., 2022). low_rank: these, and low-rank updates of matrices (nn/low_rank.h).
enum class Trainable { all, biases, low_rank };

// batch_tokens and part_tokens = "auto", until a run begins; see batch_size.h.
inline constexpr int64_t automatic_batch_tokens = 0, automatic_part_tokens = -1;

struct TrainingConfig {
  int64_t batch_tokens = 4096;
  int64_t part_tokens = automatic_part_tokens;
  int64_t accumulate = 1;
  Optimizer optimizer = Optimizer::adam;
  double learning_rate = 1e-3;
  double weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;
  double momentum = 0.95;
  double matrix_rate = 1;
  Schedule schedule = Schedule::noam;
  double factor = 2;
  int64_t warmup = 4000;
  double cooldown = 0;
  double label_smoothing = 0.1;
  SmoothingOver smoothing_over = SmoothingOver::all;
  double clip_norm = 0;
  double ema = 0;
  double guided_alignment = 0;
  int64_t guided_layer = 0;
  int64_t average_last = 0;
  int64_t max_steps = 0;
  int64_t max_epochs = 0;
  double max_minutes = 0;
  int64_t seed = 1;
  std::string device = default_device;
  TrainingPrecision precision = TrainingPrecision::fp32;
  TrainedWeights weights = TrainedWeights::fp32;
  Trainable trainable = Trainable::all;
  int64_t rank = 4;
  int64_t threads = 0;
  GradientFormat reduce_as = GradientFormat::fp32;
  double heartbeat_timeout = 8;
};

struct ValidationConfig {
  int64_t every = 0;
  double every_minutes = 0;
  std::vector<std::string> metrics = {"loss", "bleu", "chrf"};
  int64_t beam = 1;
  int64_t samples = 3;
  int64_t patience = 0;
  KeepBestBy keep_best_by = KeepBestBy::loss;
};

struct CheckpointsConfig {
  int64_t every = 0;
  int64_t keep = 3;
};

struct Recipe {
  DataConfig data;
  VocabularyConfig vocabulary;
  ModelConfig model;
  TrainingConfig training;
  ValidationConfig validation;
  CheckpointsConfig checkpoints;
  std::vector<std::string> given = {};  // keys that a file or a flag set, which the report marks: given_keys
};

void declare(Options& options, Recipe& recipe);

// Of a recipe, those that have been set, even to their defaults.
std::vector<std::string> given_keys(const Options& options);

bool has_validation_set(const DataConfig& data);

// Rather than updates, or minutes.
inline bool is_of_epochs(const ValidationConfig& c) { return c.every == 0 && c.every_minutes == 0; }

// What the run that was started in this folder has for a key such as "training/precision"; null if there is none.
nlohmann::json saved_value(const std::string& folder, const std::string& key);

// The decoder's layer, from 1 on, whose attention is guided, or was in the weights that the run starts with; 0: none.
int64_t guided_layer(const Recipe& recipe);

// Throws OptionError naming the first key with an invalid value.
void validate(const Recipe& recipe);

}  // namespace dragoman::internal
