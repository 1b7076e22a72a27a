#include "base/atomic_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* action, const std::string& path, int reason = errno) {
  throw Error("cannot {} {}: {}", action, path, std::strerror(reason));
}

void flush_to_disk(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail("open", path);
  const bool flushed = fsync(file) == 0;
  close(file);
  if (!flushed) fail("flush", path);
}

void remove_all(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail("remove", path, error.value());
}

void rename_folder(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail("rename to its final name", from);
}

}  // namespace

AtomicFolder::AtomicFolder(const std::string& folder, const std::string& mark) : folder_(folder) {
  while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
  path_ = folder_ + ".new";
  std::error_code error;
  if (fs::exists(folder_, error) && !fs::exists(fs::path(folder_) / mark, error)) {
    if (!fs::is_directory(folder_, error)) throw Error("{} is not a folder: choose another path", folder_);
    if (!fs::is_empty(folder_, error)) {
      throw Error("{} contains other files and is not replaced: choose another folder", folder_);
    }
  }
  lock();
  for (const std::string& stale : entries_of(path_)) remove_all(stale);
}

// The unfinished folder is its own lock; the system releases it when a process dies.
void AtomicFolder::lock() {
  for (;;) {
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) fail("create the folder", path_, error.value());
    lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ < 0 && errno == ENOENT) continue;
    if (lock_ < 0) fail("open", path_);
    while (flock(lock_, LOCK_EX) != 0) {
      if (errno != EINTR) fail("lock", path_);
    }
    if (is_named(lock_, path_)) return;
    close(lock_);  // the process before us renamed it
  }
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!finished_) fs::remove_all(path_, ignored);
  close(lock_);
}

void AtomicFolder::finish() {
  for (const std::string& file : entries_of(path_)) flush_to_disk(file);
  flush_to_disk(path_);
  const std::string old = folder_ + ".old", parent = fs::absolute(folder_).parent_path().string();
  remove_all(old);
  if (fs::exists(folder_)) rename_folder(folder_, old);
  rename_folder(path_, folder_);
  finished_ = true;
  flush_to_disk(parent);
  remove_all(old);
}

}  // namespace dragoman::internal
