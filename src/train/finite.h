// Tensors that are saved or resumed from must be finite: NaN and infinity spread to all that is computed from them.
#pragma once

#include <span>
#include <string>

#include "model/safetensors.h"

namespace dragoman::internal {

bool all_finite(std::span<const float> values);

// The name of the first fp32 tensor with NaN or infinity; empty if there is none.
std::string first_non_finite(std::span<const TensorEntry> entries);

}  // namespace dragoman::internal
