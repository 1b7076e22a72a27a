// MemoryLock: held by the one process that adds to a memory or replaces it. None of the memory's other files
// is opened, so that a damaged memory can be replaced.
#pragma once

#include <string>

namespace dragoman::internal {

class MemoryLock {
 public:
  // Throws an Error if it is held already.
  explicit MemoryLock(const std::string& folder);
  ~MemoryLock();
  MemoryLock(const MemoryLock&) = delete;
  MemoryLock& operator=(const MemoryLock&) = delete;

 private:
  int file_;
};

}  // namespace dragoman::internal
