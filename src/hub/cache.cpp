#include "hub/cache.h"

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/folder_lock.h"

namespace dragoman::internal {

namespace fs = std::filesystem;

namespace {

std::string mark_of_kept(const std::string& folder) { return folder + "/.kept"; }

}  // namespace

std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && fs::path(cache).is_absolute()) return std::string(cache) + "/dragoman";
  const char* home = std::getenv("HOME");
  if (home && *home) return std::string(home) + "/.cache/dragoman";
  throw Error("there is no folder for downloads: set XDG_CACHE_HOME");
}

DownloadFolder::DownloadFolder(const std::string& path)
    : path_(path), lock_(lock_folder(path, [&] {
        throw Error("{} is being downloaded by another process: wait for it to end", path);
      })) {}

void DownloadFolder::keep() { write_file(mark_of_kept(path_), {}); }

bool DownloadFolder::remove_unless_kept() {
  std::error_code ignored;  // nothing depends on it
  if (fs::exists(mark_of_kept(path_), ignored)) return false;
  fs::remove_all(path_, ignored);
  return true;
}

}  // namespace dragoman::internal
