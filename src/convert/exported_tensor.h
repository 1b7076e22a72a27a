// A model's parameters as other systems keep them.
#pragma once

#include <cstdint>
#include <vector>

#include "nn/parameters.h"
#include "tensor/device.h"

namespace dragoman::internal {

struct ExportedTensor {
  std::vector<int64_t> shape;  // weights: output, input; tables as they are here; vectors: one size
  std::vector<float> values;
  std::vector<float> scales = {};  // of int8, one for each row: an element is an integer times its row's
};

// Low precision is widened, which is exact.
ExportedTensor exported(Device& device, const Parameter& parameter);

}  // namespace dragoman::internal
