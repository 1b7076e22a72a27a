// Models above some gigabytes in Hugging Face's format: several files, and an index of which tensor is where.
//
//   {"weight_map": {"TENSOR": "FILE", ...}}
#pragma once

#include <string>

#include "convert/files/tensors.h"

namespace dragoman::internal {

// The tensors that the index names, each from the file beside it that the index gives.
ForeignTensors read_sharded(const std::string& index, ForeignTensors (*read_shard)(const std::string& path));

}  // namespace dragoman::internal
