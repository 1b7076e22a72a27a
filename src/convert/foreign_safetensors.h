// The safetensors files of other systems: one file, or several with an index, as models above 5 GB are saved.
#pragma once

#include <string>

#include "convert/foreign_tensors.h"

namespace dragoman::internal {

// Of model.safetensors, or of model.safetensors.index.json and the files beside it that it names.
ForeignTensors read_foreign_safetensors(const std::string& path);

}  // namespace dragoman::internal
