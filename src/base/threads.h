// A pool of threads that share the tasks of one loop at a time.
//
// The caller works too: a pool of one has no thread of its own. Between loops the threads spin for a moment,
// since a step of decoding is a hundred short loops, and then sleep. A loop waits for its tasks and not for
// threads: where the machine is busy, one that gets no processor holds nobody up.
//
// Each thread begins with a run of tasks of its own, the same share of every loop, since what it wrote in the loop
// before is in its cache; then it takes what is left of the others', from the end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace dragoman::internal {

class ThreadPool {
 public:
  using Body = void (*)(void* argument, int64_t task, int worker);

  // Where the system refuses threads the pool has fewer, and logs a warning.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // Limits the loops that follow to this many threads, from 1 to size(). The others sleep.
  void limit_threads(int threads);

  // body(argument, task, worker) once for each task of [0, count), then returns. Not to be nested. Rethrows what the
  // first of the tasks that failed has thrown; those after it may have run or not.
  void run(int64_t count, Body body, void* argument);

  // The same for a function of the task, or of the task and the worker.
  template <class Function>
  void for_each(size_t count, const Function& function) {
    const auto call = [](void* argument, int64_t task, int worker) {
      const auto& called = *static_cast<const Function*>(argument);
      if constexpr (std::is_invocable_v<const Function&, size_t, size_t>) {
        called(static_cast<size_t>(task), static_cast<size_t>(worker));
      } else {
        called(static_cast<size_t>(task));
      }
    };
    run(static_cast<int64_t>(count), call, const_cast<Function*>(&function));
  }

 private:
  // The tasks that are left of a thread's own: the first in the lower half, the one behind the last in the upper.
  struct alignas(64) Tasks {
    std::atomic<uint64_t> left{0};

    void set(int64_t begin, int64_t end);
    int64_t take_first();  // −1: none is left
    int64_t take_last();
  };

  ThreadPool() = default;
  bool start(int threads);
  void end();
  void work(int worker);
  void take_tasks(int worker);
  int64_t next_task(int worker);
  void keep_failure(int64_t task);

  std::vector<std::thread> workers_;
  std::unique_ptr<Tasks[]> tasks_;  // of each thread
  Body body_ = nullptr;  // these three are read by those who have a task; a loop ends only after them
  void* argument_ = nullptr;
  int64_t count_ = 0;
  std::atomic<int32_t> done_{0};         // tasks of this loop that are finished
  std::atomic<uint32_t> generation_{0};  // one more for each loop: what threads wait for
  std::atomic<int> used_{1};             // how many threads take part
  std::atomic<int> processor_{-1};       // where the caller runs
  std::atomic<bool> stop_{false};

  std::mutex failure_mutex_;
  std::exception_ptr failure_;  // of this loop
  int64_t failed_task_ = 0;
};

// A new thread. Where the system refuses it, start_thread throws an Error, and try_to_start_thread returns none: one
// that is not joinable.
std::thread start_thread(std::function<void()> body);
std::thread try_to_start_thread(std::function<void()> body);

// The number of processors that this process may use.
int available_threads();

}  // namespace dragoman::internal
