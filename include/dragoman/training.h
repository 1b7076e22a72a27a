// Training from a recipe, with callbacks.
//
//   dragoman::train({.recipe = "recipes/demo.toml", .options = {{"training.max_minutes", 1}},
//                    .on_step = [](const dragoman::TrainingStep& s) { std::cerr << s.loss << "\n"; }});
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "dragoman/error.h"
#include "dragoman/export.h"
#include "dragoman/options.h"

namespace dragoman {

// After each update.
struct TrainingStep {
  int64_t step = 0, epoch = 0;  // both from 1 on
  double loss = 0;              // per target token, with label smoothing
  double learning_rate = 0, gradient_norm = 0;
  double tokens_per_second = 0;  // of source and target
  double seconds = 0;            // of training so far, over all resumes
};

struct SampleTranslation {
  std::string source, reference, translation;
};

struct ValidationResult {
  int64_t step = 0, epoch = 0;
  double loss = 0;                                // per target token, without label smoothing
  std::optional<double> bleu, chrf, exact_match;  // of those that validation.metrics asks for: 0 to 100
  bool best = false;                              // so far: this model is kept
  std::vector<SampleTranslation> samples;         // as many as validation.samples
};

// What to do with existing checkpoints.
enum class Resume { automatic, never, require };

struct TrainingRequest {
  std::string recipe;            // a TOML file; empty: recipe_text
  std::string recipe_text = {};  // the TOML itself
  Options options = {};          // override the recipe: {{"model.d_model", 256}}
  std::string out = {};          // the model's folder; empty: models/NAME-OF-RECIPE
  Resume resume = Resume::automatic;
  std::string init_from = {};  // a folder whose weights a new run begins with

  // Called on the thread that trains. An exception from them ends training like a crash: checkpoints are
  // kept.
  std::function<void(const TrainingStep&)> on_step = {};
  std::function<void(const ValidationResult&)> on_validation = {};
  std::stop_token stop = {};  // saves a checkpoint, if the training has begun, and returns
};

struct TrainingResult {
  std::string folder;
  int64_t steps = 0;
  bool stopped = false;  // by the token; calling train() again resumes, with bit-identical results
};

// Returns when training has ended or was stopped. One training at a time for each folder.
DRAGOMAN_API TrainingResult train(const TrainingRequest& request);

}  // namespace dragoman
