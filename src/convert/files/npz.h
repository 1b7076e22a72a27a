// NumPy's .npz: a zip archive of arrays, each a member NAME.npy. Marian's models are such files.
#pragma once

#include <string>

#include "base/mapped_file.h"
#include "convert/files/tensors.h"

namespace dragoman::internal {

// One .npy file; the name is for messages.
ForeignTensor read_npy(const std::string& name, const SharedBytes& file);

// Without the ".npy" of the members' names.
ForeignTensors read_npz(const std::string& path, SharedBytes file);

}  // namespace dragoman::internal
