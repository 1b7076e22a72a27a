// A recipe: everything that a training run is told, one struct a table of the TOML file.
//
// Only what has an effect is declared. recipes/ holds commented examples.
#pragma once

#include <cstdint>
#include <string>

#include "base/options.h"
#include "kernels/kernels.h"
#include "model/config.h"
#include "text/corpus_config.h"

namespace dragoman {

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
  VocabularyConfig vocabulary;
  ModelConfig model;
  TrainingConfig training;
};

void declare(Options& options, Recipe& recipe);

// Throws OptionError naming the first key whose value cannot be.
void validate(const Recipe& recipe);

}  // namespace dragoman
