// Files of torch.save: a dict of tensors, as models have it, often with options and vocabularies beside them. Both
// the zip archive of today and the stream of PyTorch before 1.6 are read. A file from anywhere may be opened: its
// pickles are data here (unpickler.h), and sizes and places are checked before they are used.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "convert/files/tensors.h"
#include "convert/torch/pickle_value.h"

namespace dragoman::internal {

struct TorchFile {
  ForeignTensors tensors;             // of nested dicts, under dotted names: "model.encoder.weight"
  Pickle pickle;                      // all that the file holds; its root is a dict
  std::shared_ptr<const void> owner;  // of the pickle's texts
};

// An Error if the file has no tensors, or is not from PyTorch.
TorchFile open_torch(const std::string& path);

// Only the tensors; also of a model in several files, such as those that pytorch_model.bin.index.json names.
ForeignTensors read_torch(const std::string& path);

// The file itself; of a folder the .pt file that training keeps as the best, or the only one.
std::string checkpoint_path(const std::string& source);

// Whether there is a checkpoint with such contents. False for files that are not PyTorch's.
bool checkpoint_has(const std::string& source, const std::function<bool(const PickleValue& root)>& like);

}  // namespace dragoman::internal
