#include "base/threads.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace dragoman::internal {
namespace {

// Longer than the pause between two kernels and than most tasks: to wake a thread costs some 50 µs, more in a virtual
// machine.
constexpr std::chrono::microseconds spin_time(200);

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // takes about as long; yield is no more than a nop
#endif
}

// Returns once `value` differs from `old`: whether it slept meanwhile.
template <class T>
bool wait_for_change(std::atomic<T>& value, T old) {
  const auto begin = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 50; ++i) {
      if (value.load(std::memory_order_acquire) != old) return false;
      pause();
    }
  } while (std::chrono::steady_clock::now() - begin < spin_time);
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
  return true;
}

// Linux may wake a thread on the processor of the one that woke it, and take a tenth of a second to see that another
// is idle. Such a thread moves away by excluding that processor from its affinity mask, then restores the mask.
void leave_processor(int taken) {
  cpu_set_t all;
  if (sched_getcpu() != taken || sched_getaffinity(0, sizeof all, &all) != 0) return;
  cpu_set_t others = all;
  CPU_CLR(static_cast<size_t>(taken), &others);
  if (CPU_COUNT(&others) == 0) return;
  sched_setaffinity(0, sizeof others, &others);
  sched_setaffinity(0, sizeof all, &all);
}

}  // namespace

void ThreadPool::Tasks::set(int64_t begin, int64_t end) {
  left.store(static_cast<uint64_t>(end) << 32 | static_cast<uint64_t>(begin), std::memory_order_release);
}

int64_t ThreadPool::Tasks::take_first() {
  uint64_t now = left.load(std::memory_order_relaxed);
  do {
    if (static_cast<uint32_t>(now) >= now >> 32) return -1;
  } while (!left.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel, std::memory_order_relaxed));
  return static_cast<uint32_t>(now);
}

int64_t ThreadPool::Tasks::take_last() {
  constexpr uint64_t one = uint64_t{1} << 32;
  uint64_t now = left.load(std::memory_order_relaxed);
  do {
    if (static_cast<uint32_t>(now) >= now >> 32) return -1;
  } while (!left.compare_exchange_weak(now, now - one, std::memory_order_acq_rel, std::memory_order_relaxed));
  return static_cast<int64_t>(now >> 32) - 1;
}

// Delegates, so that the destructor joins the threads if one of these lines throws.
ThreadPool::ThreadPool(int threads) : ThreadPool() {
  if (!start(threads)) {
    const int fewer = std::max(size() / 2, 1);  // the others' stacks may be all the memory that was left
    end();
    start(fewer);
    log_warning("the system refuses more threads: continuing with {} of {}", size(), threads);
  }
  limit_threads(size());
}

ThreadPool::~ThreadPool() { end(); }

// False if the system refuses one of them.
bool ThreadPool::start(int threads) {
  workers_.reserve(static_cast<size_t>(threads));
  tasks_ = std::make_unique<Tasks[]>(static_cast<size_t>(threads));
  while (size() < threads) {
    std::thread started = try_to_start_thread([this, worker = size()] { work(worker); });
    if (!started.joinable()) return false;
    workers_.push_back(std::move(started));
  }
  return true;
}

void ThreadPool::end() {
  stop_.store(true, std::memory_order_relaxed);
  limit_threads(size());
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  limit_threads(1);
  stop_.store(false, std::memory_order_relaxed);
}

void ThreadPool::limit_threads(int threads) {
  if (used_.exchange(threads, std::memory_order_release) < threads) used_.notify_all();
}

void ThreadPool::run(int64_t count, Body body, void* argument) {
  const int used = used_.load(std::memory_order_relaxed);
  if (used == 1 || count <= 1) {
    for (int64_t task = 0; task < count; ++task) body(argument, task, 0);
    return;
  }
  CHECK(count <= INT32_MAX, "a loop of {} tasks", count);
  body_ = body;
  argument_ = argument;
  processor_.store(sched_getcpu(), std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  count_ = count;
  for (int i = 0; i < used; ++i) tasks_[static_cast<size_t>(i)].set(count * i / used, count * (i + 1) / used);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  take_tasks(0);
  for (int32_t done = done_.load(std::memory_order_acquire); done != count;
       done = done_.load(std::memory_order_acquire)) {
    wait_for_change(done_, done);
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

// −1: all are taken.
int64_t ThreadPool::next_task(int worker) {
  const int64_t own = tasks_[static_cast<size_t>(worker)].take_first();
  if (own >= 0) return own;
  for (int i = 1; i < size(); ++i)
    if (const int64_t task = tasks_[static_cast<size_t>((worker + i) % size())].take_last(); task >= 0)
      return task;
  return -1;
}

void ThreadPool::take_tasks(int worker) {
  int32_t finished = 0;
  for (int64_t task = next_task(worker); task >= 0; task = next_task(worker), ++finished) {
    try {
      body_(argument_, task, worker);
    } catch (...) {
      keep_failure(task);
    }
  }
  if (finished == 0) return;
  const int64_t count = count_;  // another loop may begin as soon as this one's last task is counted
  if (done_.fetch_add(finished, std::memory_order_acq_rel) + finished == count) done_.notify_one();
}

void ThreadPool::keep_failure(int64_t task) {
  const std::lock_guard lock(failure_mutex_);
  if (failure_ && failed_task_ < task) return;
  failure_ = std::current_exception();
  failed_task_ = task;
}

void ThreadPool::work(int worker) {
  uint32_t seen = 0;
  for (;;) {
    for (int used = used_.load(std::memory_order_acquire); worker >= used;
         used = used_.load(std::memory_order_acquire)) {
      used_.wait(used, std::memory_order_acquire);
    }
    const bool slept = wait_for_change(generation_, seen);
    if (slept) leave_processor(processor_.load(std::memory_order_relaxed));
    seen = generation_.load(std::memory_order_acquire);
    if (stop_.load(std::memory_order_relaxed)) return;
    take_tasks(worker);
  }
}

std::thread start_thread(std::function<void()> body) {
  std::thread started = try_to_start_thread(std::move(body));
  if (!started.joinable())
    throw Error("the system refuses another thread: allow more processes (ulimit -u) or memory (ulimit -v)");
  return started;
}

std::thread try_to_start_thread(std::function<void()> body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error&) {
    return {};
  } catch (const std::bad_alloc&) {
    return {};
  }
}

int available_threads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return std::max(1u, std::thread::hardware_concurrency());
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace dragoman::internal
