// MemoryLock: held by the one process that adds to a memory or replaces it. None of the memory's other files
// is opened, so that a damaged memory can be replaced.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace dragoman::internal {

class MemoryLock {
 public:
  // Throws an Error if it is held already.
  explicit MemoryLock(const std::string& folder);

 private:
  Descriptor file_;
};

}  // namespace dragoman::internal
