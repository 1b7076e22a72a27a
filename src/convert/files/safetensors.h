// The safetensors files of other systems, with tensors of any type.
#pragma once

#include <string>

#include "convert/files/tensors.h"

namespace dragoman::internal {

// Of model.safetensors, or of a model in several files, such as those that model.safetensors.index.json names.
ForeignTensors read_foreign_safetensors(const std::string& path);

}  // namespace dragoman::internal
