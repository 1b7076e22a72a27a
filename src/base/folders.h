// What a folder holds.
#pragma once

#include <string>
#include <vector>

namespace dragoman::internal {

// The paths of its files and folders, in no particular order. Throws an Error with the path and the system's reason.
std::vector<std::string> entries_of(const std::string& folder);

}  // namespace dragoman::internal
