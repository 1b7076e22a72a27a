// Seconds since a moment, for reports.
#pragma once

#include <chrono>

namespace dragoman::internal {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace dragoman::internal
