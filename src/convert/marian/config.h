// The model that the configuration in one of Marian's files describes.
#pragma once

#include "convert/settings.h"
#include "model/config.h"

namespace dragoman::internal {

// Source and target.
bool has_shared_embeddings(const Settings& settings);

// An Error names a key whose value is not supported.
ModelConfig marian_config(const Settings& settings);

}  // namespace dragoman::internal
