#include "memory/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace dragoman::internal {

MemoryLock::MemoryLock(const std::string& folder)
    : file_(open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (file_ < 0) throw Error("cannot open {}/lock: {}", folder, std::strerror(errno));
  if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  close(file_);
  throw Error("another process adds to {}: stop it, or send the segments to it", folder);
}

MemoryLock::~MemoryLock() { close(file_); }

}  // namespace dragoman::internal
