// SumMover: a thread that moves sums over all processes while others compute.
//
// MPI is its own while there are any, and everyone else's when there are none.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <span>
#include <thread>

#include "parallel/mpi/exchange.h"

namespace dragoman {

// Between two looks at what has arrived: at first none, for what is short; then some time for those who compute.
class Pause {
 public:
  void take();

 private:
  int looks_ = 0;
};

class SumMover {
 public:
  explicit SumMover(const Communicators& communicators)
      : communicators_(communicators), thread_([this] { move(); }) {}
  ~SumMover() { stop(); }
  SumMover(const SumMover&) = delete;
  SumMover& operator=(const SumMover&) = delete;

  void start(std::span<float> values, Wire wire);
  bool finished();               // all of them; waits for a tenth of a second at most
  std::exception_ptr failure();  // null where there was none
  void stop();                   // and leave what is under way

 private:
  struct Sum {
    std::span<float> values;
    Wire wire;
  };
  void move();
  bool advance(std::list<Exchange>& under_way);

  const Communicators& communicators_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Sum> waiting_;
  size_t unfinished_ = 0;
  std::exception_ptr failure_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace dragoman
