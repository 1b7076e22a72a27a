// A PyTorch checkpoint that a user names, or the folder that holds it.
#pragma once

#include <functional>
#include <string>

#include "convert/torch/pickle_value.h"

namespace dragoman::internal {

// The file itself; of a folder the .pt file that training keeps as the best, or the only one.
std::string checkpoint_path(const std::string& source);

// Whether there is a checkpoint with such contents. False for files that are not PyTorch's.
bool checkpoint_has(const std::string& source, const std::function<bool(const PickleValue& root)>& like);

}  // namespace dragoman::internal
