// Marian's models, model.npz and model.bin, and those of its fork Bergamot, which Firefox has.
#pragma once

#include <string>

#include "convert/files/tensors.h"

namespace dragoman::internal {

struct MarianFile {
  // Products are x·W: a matrix is [inputs, outputs], whatever its strides. Integers (intgemm8, intgemm16) have a scale.
  ForeignTensors tensors;
  std::string configuration;  // the YAML of "special:model.yml"; empty if the file has none
};

// Either format, told apart by the bytes, perhaps compressed with gzip.
MarianFile open_marian(const std::string& path);

}  // namespace dragoman::internal
