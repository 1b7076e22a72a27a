// A recipe: everything that a training run is told, one struct a table of the TOML file.
//
// Only what has an effect is declared. recipes/ holds commented examples.
#pragma once

#include <cstdint>
#include <string>

#include "base/options.h"
#include "kernels/kernels.h"
#include "model/config.h"

namespace dragoman {

// Sentences made up as they are needed. copy: the target is the source.
enum class Synthetic { copy };

struct DataConfig {
  Synthetic synthetic = Synthetic::copy;
  int64_t symbols = 11;
  int64_t length = 10;
  int64_t sentences = 30;
  int64_t batches = 20;
  int64_t valid_batches = 5;
};

enum class Schedule { noam };

struct TrainingConfig {
  int64_t accumulate = 1;
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;
  Schedule schedule = Schedule::noam;
  double factor = 2;
  int64_t warmup = 4000;
  double label_smoothing = 0.1;
  SmoothingOver smoothing_over = SmoothingOver::all;
  double clip_norm = 0;
  int64_t max_epochs = 0;
  int64_t max_steps = 0;
  int64_t seed = 1;
  int64_t threads = 0;
};

struct Recipe {
  DataConfig data;
  ModelConfig model;
  TrainingConfig training;
};

void declare(Options& options, Recipe& recipe);

// Throws OptionError naming the first key whose value cannot be.
void validate(const Recipe& recipe);

}  // namespace dragoman
