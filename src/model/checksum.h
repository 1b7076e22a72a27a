// Checksums by which a record says what it was made from: of a file's contents, and of a model.
#pragma once

#include <string>

namespace dragoman::internal {

std::string file_checksum(const std::string& path);

// Of all files at the top of the folder but the histories of its training.
std::string model_checksum(const std::string& folder);

}  // namespace dragoman::internal
