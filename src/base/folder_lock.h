// A lock on a folder, for one process at a time.
#pragma once

#include <functional>
#include <string>

#include "base/descriptor.h"

namespace dragoman::internal {

// Makes the folder if it is missing. While another process has its lock, calls `wait` before each further attempt; it
// may throw instead. What is returned is the folder that has this name now: the other process may have renamed or
// removed the one that it had locked.
Descriptor lock_folder(const std::string& path, const std::function<void()>& wait);

}  // namespace dragoman::internal
