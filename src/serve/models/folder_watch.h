// When a model's folder has changed, and a thread that checks from time to time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dragoman::internal {

struct FileState {
  std::string name;
  uint64_t device = 0, number = 0;
  int64_t size = 0, seconds = 0, nanoseconds = 0;  // the times are of its last change
  bool operator==(const FileState&) const = default;
};

FileState state_of_file(const std::string& path);  // where there is none, that of no file

// Of the files in a folder, those in its folders left out, and the log of a training run (*.jsonl), which grows all the
// time. Equal where nothing was written.
using FolderState = std::vector<FileState>;
FolderState state_of(const std::string& folder);
FolderState state_of_all(const std::vector<std::string>& folders);

class FolderWatch {
 public:
  // Calls `check` on a thread of its own: every `period` (0: never), and soon after ask(), then with true. What it
  // throws is logged.
  FolderWatch(std::chrono::milliseconds period, std::function<void(bool forced)> check);
  ~FolderWatch();

  void ask();

 private:
  void work();

  const std::chrono::milliseconds period_;
  const std::function<void(bool forced)> check_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool asked_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace dragoman::internal
