// training.precision = "auto": bf16 on a GPU; else fp32 or bf16, whichever trains faster on this machine.
#pragma once

#include <string>

#include "train/recipe.h"

namespace dragoman::internal {

// The speed of a training step in bf16 relative to fp32, measured with layers of this model's widths, one in each
// stack: a second or two for the largest. The sizes of the vocabularies must be set.
double speedup_by_bf16(const ModelConfig& model, const Kernels& kernels, int threads);

// Resolves "auto": to the precision recorded in the model's folder if a run was started there, so that a resumed run
// makes the same updates; else to bf16 on a GPU, or to the measured faster one, which is logged. `threads`: of the run.
TrainingPrecision resolved_precision(const Recipe& recipe, const std::string& folder, int threads);

}  // namespace dragoman::internal
