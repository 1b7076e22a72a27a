#include "hub/http.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "base/signals.h"

namespace dragoman::internal {

std::string HttpHead::header(std::string_view name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::optional<uint64_t> HttpHead::number(std::string_view name) const {
  const std::string text = header(name);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
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
