#include "serve/worker_pool.h"

#include <utility>

#include "base/threads.h"

namespace dragoman::internal {

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// Where the system refuses a thread, the existing ones do the work; where there are none, that is an Error.
void WorkerPool::run(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (idle_ <= waiting_.size() && threads_.size() < max_threads_) {
      std::thread thread =
          threads_.empty() ? start_thread([this] { work(); }) : try_to_start_thread([this] { work(); });
      if (thread.joinable()) threads_.push_back(std::move(thread));
    }
    waiting_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void WorkerPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) return;
    const std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace dragoman::internal
