// SumMover: a thread that carries out sums over all processes while others compute.
//
// While sums are in progress only this thread may call MPI; otherwise it makes no calls.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <span>
#include <thread>

#include "base/threads.h"
#include "parallel/mpi/exchange.h"

namespace dragoman::internal {

// Between two polls: short at first, for short waits; then long enough to leave the processor to others.
class Backoff {
 public:
  void pause();

 private:
  int polls_ = 0;
};

class SumMover {
 public:
  explicit SumMover(const Communicators& communicators)
      : communicators_(communicators), thread_(start_thread([this] { run(); })) {}
  ~SumMover() { stop(); }
  SumMover(const SumMover&) = delete;
  SumMover& operator=(const SumMover&) = delete;

  void start(std::span<float> values, GradientFormat wire);
  bool wait_for_all();           // true when all sums are finished; waits for at most a tenth of a second
  std::exception_ptr failure();  // null if there was none
  void stop();                   // abandons sums in progress

 private:
  struct Sum {
    std::span<float> values;
    GradientFormat wire;
  };
  void run();
  bool advance(std::list<Exchange>& in_progress, std::list<Exchange>& idle);

  const Communicators& communicators_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Sum> waiting_;
  size_t unfinished_ = 0;
  std::exception_ptr failure_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace dragoman::internal
