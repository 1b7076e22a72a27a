#include "serve/models/folder_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/threads.h"

namespace dragoman::internal {

FileState state_of_file(const std::string& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
  return {std::filesystem::path(path).filename().string(),
          found.st_dev,
          found.st_ino,
          found.st_size,
          found.st_mtim.tv_sec,
          found.st_mtim.tv_nsec};
}

FolderState state_of(const std::string& folder) {
  FolderState state;
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    if (file->path().extension() == ".jsonl") continue;
    FileState one = state_of_file(file->path().string());
    if (one != FileState()) state.push_back(std::move(one));
  }
  std::ranges::sort(state, {}, &FileState::name);
  return state;
}

FolderState state_of_all(const std::vector<std::string>& folders) {
  FolderState all;
  for (const std::string& folder : folders) std::ranges::move(state_of(folder), std::back_inserter(all));
  return all;
}

FolderWatch::FolderWatch(std::chrono::milliseconds period, std::function<void(bool forced)> check)
    : period_(period), check_(std::move(check)), thread_(start_thread([this] { work(); })) {}

FolderWatch::~FolderWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void FolderWatch::ask() {
  {
    const std::lock_guard lock(mutex_);
    asked_ = true;
  }
  wake_.notify_all();
}

void FolderWatch::work() {
  std::unique_lock lock(mutex_);
  const auto woken = [&] { return stop_ || asked_; };
  for (;;) {
    period_.count() > 0 ? (void)wake_.wait_for(lock, period_, woken) : wake_.wait(lock, woken);
    if (stop_) return;
    const bool forced = std::exchange(asked_, false);
    lock.unlock();
    try {
      check_(forced);
    } catch (const std::exception& error) {
      log_warning("the models' folders could not be looked at: {}", error.what());
    }
    lock.lock();
  }
}

}  // namespace dragoman::internal
