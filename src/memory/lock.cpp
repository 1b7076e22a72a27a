#include "memory/lock.h"

#include <fcntl.h>

#include "base/error.h"

namespace dragoman::internal {

MemoryLock::MemoryLock(const std::string& folder) : file_(folder + "/lock", O_RDWR | O_CREAT) {
  if (!file_.try_to_lock())
    throw Error("another process adds to {}: stop it, or send the segments to it", folder);
}

}  // namespace dragoman::internal
