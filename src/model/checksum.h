// Checksums by which a record says what it was made from: of a file's contents, and of a model.
#pragma once

#include <string>

namespace dragoman::internal {

std::string file_checksum(const std::string& path);

// Of what translates, and of what adapting the model starts from: all files at the top of the folder but its
// calibration and the histories of its training, and of config.json only what these two read. The rest says how the
// model was made: a run that goes on with more threads, or in a folder that was renamed, changes it, and the model
// stays the same.
std::string model_checksum(const std::string& folder);

}  // namespace dragoman::internal
