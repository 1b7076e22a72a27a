// The tensors of a PyTorch file's pickle, whose calls are read as data.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/mapped_file.h"
#include "convert/files/tensors.h"
#include "convert/torch/pickle_value.h"

namespace dragoman::internal {

// A pickle's description of a storage, which is kept outside of it.
struct TorchStorage {
  std::string_view key;
  ElementType type;
  int64_t count;
  int64_t begin;  // not 0 for a view of another storage, as in PyTorch before 0.4
};

// An Error if its type is not supported.
TorchStorage read_storage(const std::string& path, const PicklePersistent& storage);

// The tensors of nested dicts, under dotted names: "model.encoder.weight". Lists and objects are not searched.
ForeignTensors collect_tensors(const std::string& path, const PickleValue& root,
                               const std::function<SharedBytes(const TorchStorage&)>& data_of);

}  // namespace dragoman::internal
