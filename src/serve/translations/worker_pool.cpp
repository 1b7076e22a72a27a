#include "serve/translations/worker_pool.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.h"
#include "base/threads.h"

namespace dragoman::internal {
namespace {

void run_safely(std::function<void()> task) {
  try {
    task();
  } catch (const std::exception& error) {
    log_warning("an answer was lost: {}", error.what());
  }
}

}  // namespace

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// Where the system refuses a thread, the existing ones do the work; where there are none, that is an Error.
void WorkerPool::run(std::function<void()> task, uint64_t client) {
  {
    const std::lock_guard lock(mutex_);
    if (!stop_ && idle_ <= waiting_ && threads_.size() < max_threads_) {
      std::thread thread =
          threads_.empty() ? start_thread([this] { work(); }) : try_to_start_thread([this] { work(); });
      if (thread.joinable()) threads_.push_back(std::move(thread));
    }
    std::deque<std::function<void()>>& own = clients_[client].waiting;
    if (own.empty()) turns_.push_back(client);
    own.push_back(std::move(task));
    ++waiting_;
  }
  wake_.notify_one();
}

// The first client that may have another thread.
std::deque<uint64_t>::iterator WorkerPool::next() {
  const bool any = max_threads_ - running_ > reserved_;
  return std::ranges::find_if(turns_,
                              [&](uint64_t client) { return any || clients_.at(client).running == 0; });
}

std::function<void()> WorkerPool::take(std::deque<uint64_t>::iterator turn) {
  const uint64_t id = *turn;
  Client& client = clients_.at(id);
  std::function<void()> task = std::move(client.waiting.front());
  client.waiting.pop_front();
  turns_.erase(turn);
  if (!client.waiting.empty()) turns_.push_back(id);
  return task;
}

// Called after taking a task. run() wakes one thread for each task, but the end of a task can allow two others to
// begin: the next client's and, on a reserved thread, one of its own client.
void WorkerPool::wake_others() {
  if (stop_ && waiting_ == 0) {
    wake_.notify_all();
  } else if (idle_ > 0 && next() != turns_.end()) {
    wake_.notify_one();
  }
}

void WorkerPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    auto turn = turns_.end();
    ++idle_;
    wake_.wait(lock, [&] {
      turn = next();
      return turn != turns_.end() || (stop_ && waiting_ == 0);
    });
    --idle_;
    if (turn == turns_.end()) return;
    const uint64_t client = *turn;
    std::function<void()> task = take(turn);
    --waiting_;
    ++running_;
    ++clients_.at(client).running;
    wake_others();
    lock.unlock();
    run_safely(std::move(task));
    lock.lock();
    --running_;
    const auto had = clients_.find(client);
    if (--had->second.running == 0 && had->second.waiting.empty()) clients_.erase(had);
  }
}

}  // namespace dragoman::internal
