// What adapting a model is told: the model, the segments that it is to learn, and how far it may go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "memory/read_segments.h"
#include "train/recipe.h"

namespace dragoman::internal {

// Which weights change: training.trainable's, or each of them in turn, of which the best is taken.
enum class AdaptedWeights { all, biases, low_rank, best };

struct AdaptConfig {
  std::string model, out;
  // The user's segments: of memories, of files. Languages that are not given are the memories', or the model's.
  std::vector<std::string> memories;
  SegmentFiles segments;
  // Text of no particular subject, so that the model forgets nothing; both empty: the model's own sample, or the
  // sentences that come with the program. Without targets the model translates the sources itself.
  std::string general_source, general_target;
  double general_share = 0.5;  // of the pairs of an epoch
  double max_loss = 0.3;       // BLEU on general text
  AdaptedWeights weights = AdaptedWeights::all;
  int64_t rank = 4;          // of low-rank updates
  double learning_rate = 0;  // 0: what suits the weights that change
  double max_minutes = 5;
  int64_t max_steps = 0;
  int64_t seed = 1;
  std::string device = default_device;
  int64_t threads = 0;
};

}  // namespace dragoman::internal
