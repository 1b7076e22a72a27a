// NumPy's .npz: a zip archive of arrays, each a member NAME.npy. Marian's models are such files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "convert/files/tensors.h"

namespace dragoman::internal {

// One .npy file; the name is for messages.
ForeignTensor read_npy(const std::string& name, const SharedBytes& file);

// Without the ".npy" of the members' names.
ForeignTensors read_npz(const std::string& path, SharedBytes file);

// An array to write, row by row.
struct NpzMember {
  std::string name;         // without ".npy"
  const char* description;  // NumPy's of its elements: "<f4"
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

// Uncompressed, and with the same bytes for the same arrays. An Error for more than 4 GiB.
void write_npz(const std::string& path, const std::vector<NpzMember>& members);

}  // namespace dragoman::internal
