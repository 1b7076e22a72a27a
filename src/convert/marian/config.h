// The model that the configuration in one of Marian's files describes.
#pragma once

#include <cstdint>
#include <optional>

#include "convert/settings.h"
#include "model/config.h"

namespace dragoman::internal {

// Source and target.
bool has_shared_embeddings(const Settings& settings);

// An Error names a key whose value is not supported.
ModelConfig marian_config(const Settings& settings);

// The decoder's layer, from 1 on, whose first head learned to align words; 0: that is not known. `training` is what
// Marian leaves beside a model that it trains; without it, only a layer by number says that there was guided alignment.
int64_t guided_layer_of(const Settings& settings, const std::optional<Settings>& training);

}  // namespace dragoman::internal
