#include "base/log.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <utility>

namespace dragoman::internal {
namespace {

std::atomic<LogLevel> lowest_level{LogLevel::off};  // a library is silent; the program sets its own
std::mutex sink_mutex;
LogSink sink;

constexpr const char* clear_line = "\r\x1b[K";
std::atomic<bool> status_is_shown{false};

const char* prefix(LogLevel level) {
  if (level == LogLevel::debug) return "debug: ";
  if (level == LogLevel::warning) return "warning: ";
  return "";
}

}  // namespace

void set_log_level(LogLevel level) { lowest_level = level; }

bool is_logged(LogLevel level) { return level >= lowest_level && level != LogLevel::off; }

void set_log_sink(LogSink new_sink) {
  const std::lock_guard lock(sink_mutex);
  sink = std::move(new_sink);
}

void log_line(LogLevel level, const std::string& message) {
  {
    const std::lock_guard lock(sink_mutex);
    if (sink) return sink(level, message);
  }
  const std::string line =
      (status_is_shown.exchange(false) ? clear_line : "") + (prefix(level) + message + "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call: stdio locks the stream for it
}

std::optional<int64_t> log_columns() {
  {
    const std::lock_guard lock(sink_mutex);
    if (sink || isatty(STDERR_FILENO) != 1) return {};
  }
  constexpr int64_t usual = 80;
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : usual;
}

void write_over(const std::string& text) {
  {
    const std::lock_guard lock(sink_mutex);
    if (sink) return;
  }
  status_is_shown = !text.empty();
  const std::string line = clear_line + ("\x1b[?7l" + text) + "\x1b[?7h";  // wrapping off, and on again
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace dragoman::internal
