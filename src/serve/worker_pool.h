// Threads for what blocks while a model works: documents. Each waits for translations most of its time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dragoman::internal {

class WorkerPool {
 public:
  // Threads start as they are needed.
  explicit WorkerPool(int threads) : max_threads_(static_cast<size_t>(threads)) {}
  ~WorkerPool();  // does what waits, first

  // Must not throw.
  void run(std::function<void()> task);

 private:
  void work();

  const size_t max_threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;
  size_t idle_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dragoman::internal
