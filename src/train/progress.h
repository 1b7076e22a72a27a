// Progress output of a run: on a terminal a line that is updated in place, elsewhere a line of the log each minute.
#pragma once

#include <chrono>
#include <string>

#include "train/observer.h"

namespace dragoman::internal {

class Progress {
 public:
  Progress();
  void show(const UpdateReport& report);             // with the time left, at the pace since the first call
  void show_sample(const ValidationReport& report);  // a translation; on a terminal only
  void show_work(const std::string& what);           // other work that takes a while; on a terminal only
  void clear();                                      // before anything else is written

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool shown_ = false;
  size_t samples_shown_ = 0;
  Clock::time_point last_ = {};
  std::optional<double> first_done_;  // at the first call, and when that was
  Clock::time_point first_ = {};
};

// 4:05, 1:02:03, or 2 d 03:04.
std::string duration_text(double seconds);

}  // namespace dragoman::internal
