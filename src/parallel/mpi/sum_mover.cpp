#include "parallel/mpi/sum_mover.h"

#include <sched.h>
#include <unistd.h>

#include <chrono>

namespace dragoman::internal {
namespace {

constexpr size_t max_in_progress = 4;

}  // namespace

void Backoff::pause() {
  if (++polls_ < 200) {
    sched_yield();
  } else {
    usleep(50);
  }
}

void SumMover::start(std::span<float> values, GradientFormat wire) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({values, wire});
    ++unfinished_;
  }
  changed_.notify_all();
}

bool SumMover::wait_for_all() {
  std::unique_lock lock(mutex_);
  if (unfinished_ > 0 && !failure_) changed_.wait_for(lock, std::chrono::milliseconds(100));
  return unfinished_ == 0;
}

std::exception_ptr SumMover::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void SumMover::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SumMover::run() try {
  std::list<Exchange> in_progress;
  std::unique_lock lock(mutex_);
  Backoff backoff;
  while (!stop_) {
    if (waiting_.empty() && in_progress.empty()) {
      changed_.wait(lock);
      backoff = {};
      continue;
    }
    std::vector<Sum> starting;
    for (; !waiting_.empty() && in_progress.size() + starting.size() < max_in_progress; waiting_.pop_front())
      starting.push_back(waiting_.front());
    lock.unlock();
    for (const Sum& sum : starting) in_progress.emplace_back(communicators_, sum.values, sum.wire);
    if (!advance(in_progress)) backoff.pause();
    lock.lock();
  }
} catch (...) {
  const std::lock_guard lock(mutex_);
  failure_ = std::current_exception();
  changed_.notify_all();
}

// True if a sum was finished.
bool SumMover::advance(std::list<Exchange>& in_progress) {
  bool may_broadcast = true;
  for (Exchange& exchange : in_progress) {
    exchange.advance(may_broadcast);
    may_broadcast = may_broadcast && exchange.is_broadcasting();
  }
  const auto finished = in_progress.remove_if([](const Exchange& exchange) { return exchange.is_done(); });
  if (finished == 0) return false;
  const std::lock_guard lock(mutex_);
  unfinished_ -= finished;
  changed_.notify_all();
  return true;
}

}  // namespace dragoman::internal
