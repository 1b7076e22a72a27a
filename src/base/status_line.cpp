#include "base/status_line.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"

namespace dragoman::internal {

StatusLine::StatusLine() : terminal_(isatty(STDERR_FILENO) == 1), last_(Clock::now()), since_(last_) {}

void StatusLine::show(const std::string& what, double share, double count, const char* unit) {
  const auto now = Clock::now();
  if (what != work_) {
    work_ = what;
    since_ = now;
  }
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(20000))) return;
  if (!is_logged(LogLevel::info)) return;
  last_ = now;
  std::string text = what;
  if (share >= 0) text += fmt::format("  {:3.0f} %", 100 * std::min(share, 1.0));
  const double seconds = std::chrono::duration<double>(now - since_).count();
  if (share < 0) text += fmt::format("  {:.0f} s", seconds);
  if (count > 0 && seconds > 0) {
    text += fmt::format("  {} {}, {} a second", with_commas(static_cast<int64_t>(count)), unit,
                        with_commas(static_cast<int64_t>(count / seconds)));
  }
  if (!terminal_) return log_info("{}", text);
  write_over(text);
  shown_ = true;
}

void StatusLine::clear() {
  if (!shown_) return;
  write_over("");
  shown_ = false;
}

std::string with_commas(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = static_cast<int64_t>(text.size()) - 3; at > (number < 0); at -= 3) {
    text.insert(static_cast<size_t>(at), 1, ',');
  }
  return text;
}

}  // namespace dragoman::internal
