// Models above some gigabytes as Hugging Face has them: several files, and an index that says which tensor is where.
//
//   {"weight_map": {"TENSOR": "FILE", ...}}
#pragma once

#include <string>

#include "convert/foreign_tensors.h"

namespace dragoman::internal {

// The tensors that the index names, each from the file beside it that the index says.
ForeignTensors read_sharded(const std::string& index, ForeignTensors (*read_shard)(const std::string& path));

}  // namespace dragoman::internal
