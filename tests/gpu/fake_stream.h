// A stream of a GPU that tests make up: what it was asked for is done when someone waits for it or asks whether it is
// done, and not before. Inline, since NCCL's twin is a library of its own that puts tasks on it.
#pragma once

#include <deque>
#include <functional>
#include <utility>

namespace dragoman::internal {

struct FakeStream {
  // A task returns false while it waits for another stream, or for another process.
  std::deque<std::function<bool()>> queue = {};
  size_t done = 0;  // tasks that are not in the queue any more

  void add(std::function<void()> task) {
    queue.emplace_back([task = std::move(task)] {
      task();
      return true;
    });
  }
  size_t end() const { return done + queue.size(); }

  // False where a task waits.
  bool run_until(size_t until) {
    while (done < until && !queue.empty()) {
      if (!queue.front()()) return false;
      queue.pop_front();
      ++done;
    }
    return true;
  }
  bool run_all() { return run_until(end()); }
};

}  // namespace dragoman::internal
