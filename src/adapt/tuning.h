// The run that fine-tunes: on the user's segments and general text, from the model's own weights, in small steps.
#pragma once

#include "adapt/config.h"
#include "adapt/split_text.h"
#include "student/stage.h"

namespace dragoman::internal {

// It ends when the held-out segments are translated no better any more, or at the limits of `config`.
Recipe tuning_recipe(const AdaptConfig& config, Trainable weights, const SplitText& segments,
                     const SplitText& general);

// Does the stage, or what a larger limit adds to it.
void tune(const Recipe& recipe, const AdaptConfig& config, Stage& stage);

}  // namespace dragoman::internal
