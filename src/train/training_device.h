// What a run computes on: the device that training.device names, with the kernels that suit training.precision.
#pragma once

#include "train/recipe.h"

namespace dragoman::internal {

// `precision` may still be automatic. Throws an Error where there is no such device, or it lacks the precision.
const Kernels& training_kernels(const TrainingConfig& training);

// What it is for Pass: products of tf32 are those of floats on such kernels.
Precision precision_of(const TrainingConfig& training);

}  // namespace dragoman::internal
