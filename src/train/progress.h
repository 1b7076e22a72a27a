// What a person sees while a model learns: a line that stands still and changes, where standard error is a
// terminal; elsewhere a plain line a minute.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace dragoman {

struct ProgressFacts {
  int64_t epoch = 0, step = 0;
  double loss = 0;               // a token, over the last updates
  double tokens_per_second = 0;  // source and target
  double share = -1;             // of the run that is done, or −1 where nobody knows
};

class Progress {
 public:
  Progress();
  void show(const ProgressFacts& facts);    // with the time that is left, at the pace since the first call
  void show_work(const std::string& what);  // what takes a while, and is no step; on a terminal only
  void clear();                             // before anything else is written

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point last_ = {};
  double first_share_ = -1;
  Clock::time_point first_ = {};
};

// 4:05, 1:02:03, or 2 d 03:04.
std::string duration_text(double seconds);

}  // namespace dragoman
