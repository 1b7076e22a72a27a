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
  std::list<Exchange> in_progress, idle;
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
    for (const Sum& sum : starting) {
      if (idle.empty()) idle.emplace_back(communicators_);
      in_progress.splice(in_progress.end(), idle, idle.begin());
      in_progress.back().start(sum.values, sum.wire);
    }
    if (!advance(in_progress, idle)) backoff.pause();
    lock.lock();
  }
  // MPI may still write into their memory, which is never freed.
  static std::list<Exchange>& abandoned = *new std::list<Exchange>();
  abandoned.splice(abandoned.end(), in_progress);
} catch (...) {
  const std::lock_guard lock(mutex_);
  failure_ = std::current_exception();
  changed_.notify_all();
}

// True if a sum was finished.
bool SumMover::advance(std::list<Exchange>& in_progress, std::list<Exchange>& idle) {
  bool may_broadcast = true;
  for (Exchange& exchange : in_progress) {
    exchange.advance(may_broadcast);
    may_broadcast = may_broadcast && exchange.is_broadcasting();
  }
  size_t finished = 0;
  for (auto next = in_progress.begin(); next != in_progress.end();) {
    const auto exchange = next++;
    if (!exchange->is_done()) continue;
    idle.splice(idle.end(), in_progress, exchange);
    ++finished;
  }
  if (finished == 0) return false;
  const std::lock_guard lock(mutex_);
  unfinished_ -= finished;
  changed_.notify_all();
  return true;
}

}  // namespace dragoman::internal
