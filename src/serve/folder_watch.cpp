#include "serve/folder_watch.h"

#include <sys/stat.h>

#include <utility>

#include "base/threads.h"

namespace dragoman::internal {

FolderState state_of(const std::string& folder) {
  FolderState state;
  for (const char* name : {"/config.json", "/model.safetensors"}) {
    struct stat file = {};
    if (stat((folder + name).c_str(), &file) != 0) file = {};
    state.insert(state.end(), {static_cast<int64_t>(file.st_dev), static_cast<int64_t>(file.st_ino),
                               file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec});
  }
  return state;
}

FolderWatch::FolderWatch(std::chrono::milliseconds period, std::function<void(bool)> look)
    : period_(period), look_(std::move(look)), thread_(start_thread([this] { work(); })) {}

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
    const bool asked = std::exchange(asked_, false);
    lock.unlock();
    look_(asked);
    lock.lock();
  }
}

}  // namespace dragoman::internal
