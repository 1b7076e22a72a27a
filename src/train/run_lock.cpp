#include "train/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/files.h"

namespace dragoman::internal {
namespace {

// is_training() has a lock for a moment, too: whoever has it for longer is a run.
bool locked(int folder) {
  constexpr int tries = 200;
  for (int i = 0; i < tries; ++i) {
    if (flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

RunLock::RunLock(const std::string& folder) : folder_(folder) {
  do {
    if (file_ >= 0) close(file_);
    std::error_code error;
    made_folder_ = !std::filesystem::exists(folder, error) && !error;
    make_folder(folder);
    file_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file_ < 0 && errno != ENOENT) return;
    if (file_ >= 0 && !locked(file_)) {
      close(file_);
      throw Error("{} is in use by another run: wait until it ends, or choose another folder (--out)",
                  folder);
    }
  } while (file_ < 0 || !is_named(file_, folder));  // a run that failed has removed it
}

RunLock::~RunLock() {
  if (made_folder_) rmdir(folder_.c_str());  // fails if there is anything in it
  if (file_ >= 0) close(file_);
}

bool is_training(const std::string& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return false;
  const bool in_use = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return in_use;
}

}  // namespace dragoman::internal
