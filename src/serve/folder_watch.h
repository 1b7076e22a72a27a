// When a model's folder has changed, and a thread that looks from time to time.
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

// Of config.json and the weights: which files they are, their sizes and times. Equal where nothing was written.
using FolderState = std::vector<int64_t>;
FolderState state_of(const std::string& folder);

class FolderWatch {
 public:
  // Calls `look` on a thread of its own: every `period` (0: never), and soon after ask(), then with true.
  FolderWatch(std::chrono::milliseconds period, std::function<void(bool asked)> look);
  ~FolderWatch();

  void ask();

 private:
  void work();

  const std::chrono::milliseconds period_;
  const std::function<void(bool)> look_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool asked_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace dragoman::internal
