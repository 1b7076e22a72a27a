// What a run computes on: the device that training.device names, with the kernels that suit training.precision.
#pragma once

#include "parallel/processes.h"
#include "train/recipe.h"

namespace dragoman::internal {

// `precision` may still be automatic. Throws an Error where there is no such device, or it lacks the precision.
const Kernels& training_kernels(const TrainingConfig& training);

// Processes sum gradients there. Where it cannot be used, the others most often find the same: the first process alone
// says it.
void use_training_device(Processes& processes, const TrainingConfig& training);

// What it is for Pass: products of tf32 are those of floats on such kernels.
Precision precision_of(const TrainingConfig& training);

}  // namespace dragoman::internal
