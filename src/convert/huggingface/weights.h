// A model's weights as Hugging Face's Marian and Pegasus have them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "search/saved_model.h"

namespace dragoman::internal {

// Writes model.safetensors. `padding`: where the vocabularies get a token that this model lacks, with a row of zeros
// and no probability.
void write_huggingface_weights(const std::string& path, SavedModel& model, std::optional<int64_t> padding);

}  // namespace dragoman::internal
