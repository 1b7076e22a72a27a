// CTranslate2's model.bin, of the versions 1 to 6.
#pragma once

#include <cstdint>
#include <string>

#include "convert/files/tensors.h"

namespace dragoman::internal {

struct CTranslate2File {
  uint32_t version;        // of the file's format
  std::string spec;        // the class of the model, such as "TransformerSpec"; empty in version 1
  uint32_t revision;       // of the class; 1 in version 1
  ForeignTensors tensors;  // aliases too, which share the data; scalars have the shape []
};

CTranslate2File open_ctranslate2(const std::string& path);

}  // namespace dragoman::internal
