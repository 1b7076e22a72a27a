#include "parallel/mpi/sum_mover.h"

#include <sched.h>
#include <unistd.h>

#include <chrono>

namespace dragoman {
namespace {

constexpr size_t exchanges_at_once = 4;

}  // namespace

void Pause::take() {
  if (++looks_ < 200) {
    sched_yield();
  } else {
    usleep(50);
  }
}

void SumMover::start(std::span<float> values, Wire wire) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({values, wire});
    ++unfinished_;
  }
  changed_.notify_all();
}

bool SumMover::finished() {
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

void SumMover::move() try {
  std::list<Exchange> under_way;
  std::unique_lock lock(mutex_);
  Pause pause;
  while (!stop_) {
    if (waiting_.empty() && under_way.empty()) {
      changed_.wait(lock);
      pause = {};
      continue;
    }
    std::vector<Sum> starting;
    for (; !waiting_.empty() && under_way.size() + starting.size() < exchanges_at_once; waiting_.pop_front())
      starting.push_back(waiting_.front());
    lock.unlock();
    for (const Sum& sum : starting) under_way.emplace_back(communicators_, sum.values, sum.wire);
    const bool moved = advance(under_way);
    if (!moved) pause.take();
    lock.lock();
  }
} catch (...) {
  const std::lock_guard lock(mutex_);
  failure_ = std::current_exception();
  changed_.notify_all();
}

// True if one was finished.
bool SumMover::advance(std::list<Exchange>& under_way) {
  bool may_broadcast = true;
  for (Exchange& exchange : under_way) {
    exchange.advance(may_broadcast);
    may_broadcast = may_broadcast && exchange.is_broadcasting();
  }
  const auto finished = under_way.remove_if([](const Exchange& exchange) { return exchange.is_done(); });
  if (finished == 0) return false;
  const std::lock_guard lock(mutex_);
  unfinished_ -= finished;
  changed_.notify_all();
  return true;
}

}  // namespace dragoman
