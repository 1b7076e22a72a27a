// What dragoman info --verify does.
#pragma once

#include <string>

namespace dragoman::internal {

// Reads every file of a model folder, compares it with its checksum where it has one, and prints a line about each.
// Throws an Error if any is damaged.
void verify_folder(const std::string& folder);

}  // namespace dragoman::internal
