// What the configuration in a file of Marian's says of the model.
#pragma once

#include "convert/settings.h"
#include "model/config.h"

namespace dragoman::internal {

// Of source and target.
bool has_shared_embeddings(const Settings& settings);

// An Error names a key whose value is not supported.
ModelConfig marian_config(const Settings& settings);

}  // namespace dragoman::internal
