#include "base/atomic_folder.h"

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/folder_lock.h"
#include "base/log.h"
#include "base/replacement.h"
#include "base/signals.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* action, const std::string& path, int reason = errno) {
  throw Error("cannot {} {}: {}", action, path, std::strerror(reason));
}

void flush_to_disk(const std::string& path) { Descriptor(path, O_RDONLY).flush(); }

void remove_all(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail("remove", path, error.value());
}

void rename_folder(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail("rename to its final name", from);
}

void check_replaceable(const std::string& folder, const std::string& mark) {
  std::error_code error;
  if (!fs::exists(folder, error) || fs::exists(fs::path(folder) / mark, error)) return;
  if (!fs::is_directory(folder, error)) throw Error("{} is not a folder: choose another path", folder);
  if (!fs::is_empty(folder, error))
    throw Error("{} contains other files and is not replaced: choose another folder", folder);
}

// Tries again and again rather than wait in one call, which a signal that reaches another thread would not end.
Descriptor lock_in_turn(const std::string& path, const std::string& folder) {
  bool said = false;
  return lock_folder(path, [&] {
    if (!said) log_info("waiting for another process to finish {}", folder);
    said = true;
    if (stop_requested() != 0)
      throw Stopped(stop_requested(), "stopped while waiting for another process to finish " + folder);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  });
}

}  // namespace

AtomicFolder::AtomicFolder(const std::string& folder, const std::string& mark)
    : folder_(behind_links(without_final_slashes(folder))), path_(replacement_name(folder_)) {
  check_replaceable(folder_, mark);
  lock_ = lock_in_turn(path_, folder_);
  for (const std::string& stale : entries_of(path_)) remove_all(stale);
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!finished_) fs::remove_all(path_, ignored);
}

void AtomicFolder::finish() {
  for (const std::string& file : entries_of(path_)) flush_to_disk(file);
  flush_to_disk(path_);
  const std::string old = folder_ + ".dragoman-old", parent = fs::absolute(folder_).parent_path().string();
  remove_all(old);
  if (fs::exists(folder_)) rename_folder(folder_, old);
  rename_folder(path_, folder_);
  finished_ = true;
  flush_to_disk(parent);
  remove_all(old);
}

}  // namespace dragoman::internal
