#include "hub/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"

namespace dragoman::internal {

namespace fs = std::filesystem;

std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && fs::path(cache).is_absolute()) return std::string(cache) + "/dragoman";
  const char* home = std::getenv("HOME");
  if (home && *home) return std::string(home) + "/.cache/dragoman";
  throw Error("there is no folder for downloads: set XDG_CACHE_HOME");
}

DownloadFolder::DownloadFolder(const std::string& path) : path_(path) {
  make_folder(path_);
  lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) throw Error("cannot open {}: {}", path_, std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  close(lock_);
  throw Error("{} is being downloaded by another process: wait for it to end", path_);
}

DownloadFolder::~DownloadFolder() { close(lock_); }

void DownloadFolder::remove() {
  std::error_code ignored;  // nothing depends on it
  fs::remove_all(path_, ignored);
}

}  // namespace dragoman::internal
