// The adapted model as an update of the old one (model/weights_file.h): biases, norms and low-rank updates, a hundredth
// of the model's size or less.
#pragma once

#include <string>

#include "adapt/config.h"

namespace dragoman::internal {

struct TunedModel {
  std::string run, chosen;  // folders: of the tuning, and of the whole model with what is kept of it
  Trainable weights = Trainable::all;
  double share = 1;  // that is kept
};

// Into `folder`, which will take the place of config.out.
void write_update(const AdaptConfig& config, const TunedModel& tuned, const std::string& folder);

}  // namespace dragoman::internal
