// Threads for what takes long or waits for a model: documents, answers with much to format.
//
// Clients take turns, whatever each of them has waiting. A part of the threads, an eighth, is reserved for clients for
// whom none works: one client's documents, however long, do not keep the others' from beginning.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace dragoman::internal {

class WorkerPool {
 public:
  // Threads start as they are needed.
  explicit WorkerPool(int threads)
      : max_threads_(static_cast<size_t>(threads)), reserved_(max_threads_ / 8) {}
  ~WorkerPool();  // does what waits, first

  // Must not throw. Tasks of one client begin in their order; 0: of nobody in particular. Tasks may call this, while
  // the pool ends, too.
  void run(std::function<void()> task, uint64_t client = 0);

 private:
  struct Client {
    std::deque<std::function<void()>> waiting;
    size_t running = 0;
  };

  void work();
  std::deque<uint64_t>::iterator next();
  std::function<void()> take(std::deque<uint64_t>::iterator turn);
  void wake_others();

  const size_t max_threads_, reserved_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::unordered_map<uint64_t, Client> clients_;  // with tasks that wait or run
  std::deque<uint64_t> turns_;                    // those with tasks that wait, in turn
  size_t waiting_ = 0, running_ = 0, idle_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dragoman::internal
