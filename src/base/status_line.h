// Progress of long work: a status line that changes in place if standard error is a terminal, otherwise a line in the
// log now and then.
#pragma once

#include <chrono>
#include <string>

namespace dragoman::internal {

class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // Cheap enough to be called a thousand times a second. A share below 0: unknown.
  void show(const std::string& what, double share, double count = 0, const char* unit = "pairs");
  void clear();  // before anything else is written

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  bool shown_ = false;
  Clock::time_point last_;
  std::string work_;  // the current one, and its start
  Clock::time_point since_;
};

// 161225 as 161,225.
std::string with_commas(int64_t number);

}  // namespace dragoman::internal
