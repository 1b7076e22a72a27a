// Marian's models, model.npz and model.bin, and those of its fork Bergamot, which Firefox has.
#pragma once

#include <map>
#include <string>

#include "convert/foreign_tensors.h"

namespace dragoman::internal {

struct MarianFile {
  ForeignTensors tensors;     // products are x·W: a matrix is [inputs, outputs], whatever its strides
  std::string configuration;  // the YAML of "special:model.yml"; empty if the file has none
  // Of the tensors that are integers in the file (intgemm8, intgemm16): a weight is an integer divided by this.
  std::map<std::string, float, std::less<>> multipliers;
};

// Either format, told apart by the bytes.
MarianFile open_marian(const std::string& path);

}  // namespace dragoman::internal
