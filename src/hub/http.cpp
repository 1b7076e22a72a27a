#include "hub/http.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/parse_number.h"
#include "base/signals.h"

namespace dragoman::internal {

std::string HttpHead::header(std::string_view name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::optional<uint64_t> HttpHead::number(std::string_view name) const {
  return parse_number<uint64_t>(header(name));
}

void wait_unless_stopped(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
    if (stop_requested()) throw Stopped(stop_requested(), "stopped");
    std::this_thread::sleep_for(
        std::min<std::chrono::duration<double>>(end - Clock::now(), std::chrono::milliseconds(100)));
  }
}

}  // namespace dragoman::internal
