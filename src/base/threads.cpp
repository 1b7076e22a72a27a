#include "base/threads.h"

#include <sched.h>

#include <algorithm>

namespace dragoman {
namespace {

// About 20 µs: longer than the pause between two kernels, shorter than anyone would notice.
constexpr int spins = 4000;

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Returns once `value` differs from `old`.
template <class T>
void wait_for_change(std::atomic<T>& value, T old) {
  for (int i = 0; i < spins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  for (int worker = 1; worker < threads; ++worker) {
    workers_.emplace_back([this, worker] { work(worker); });
  }
}

ThreadPool::~ThreadPool() {
  stop_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(int64_t count, Body body, void* argument) {
  if (workers_.empty() || count <= 1) {
    for (int64_t task = 0; task < count; ++task) body(argument, task, 0);
    return;
  }
  body_ = body;
  argument_ = argument;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  take_tasks(0);
  for (int left = busy_.load(std::memory_order_acquire); left != 0;
       left = busy_.load(std::memory_order_acquire)) {
    wait_for_change(busy_, left);
  }
}

void ThreadPool::take_tasks(int worker) {
  for (;;) {
    const int64_t task = next_.fetch_add(1, std::memory_order_relaxed);
    if (task >= count_) return;
    body_(argument_, task, worker);
  }
}

void ThreadPool::work(int worker) {
  uint32_t seen = 0;
  for (;;) {
    wait_for_change(generation_, seen);
    ++seen;
    if (stop_.load(std::memory_order_relaxed)) return;
    take_tasks(worker);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

int available_threads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return std::max(1u, std::thread::hardware_concurrency());
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace dragoman
