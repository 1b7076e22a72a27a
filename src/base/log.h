// Progress and warnings, one line each on standard error. Standard output carries results only.
//
//   log_info("epoch {}: {:.3f}", epoch, loss);
//
// A line is written whole, so that threads do not mix theirs. Not for errors: those are thrown (error.h).
#pragma once

#include <string>
#include <utility>

#include <fmt/core.h>

namespace dragoman {

enum class LogLevel { debug, info, warning, off };

// Lines below this level are dropped. At first: info.
void set_log_level(LogLevel level);
bool is_logged(LogLevel level);

void log_line(LogLevel level, const std::string& message);

template <typename... Values>
void log_debug(fmt::format_string<Values...> message, Values&&... values) {
  if (is_logged(LogLevel::debug)) {
    log_line(LogLevel::debug, fmt::format(message, std::forward<Values>(values)...));
  }
}

template <typename... Values>
void log_info(fmt::format_string<Values...> message, Values&&... values) {
  if (is_logged(LogLevel::info)) {
    log_line(LogLevel::info, fmt::format(message, std::forward<Values>(values)...));
  }
}

template <typename... Values>
void log_warning(fmt::format_string<Values...> message, Values&&... values) {
  if (is_logged(LogLevel::warning)) {
    log_line(LogLevel::warning, fmt::format(message, std::forward<Values>(values)...));
  }
}

// For a standard error that is a terminal: a line that stands still and is written over by the next one; empty text
// takes it away. What does not fit the terminal's width is cut off, since a line that wraps would not stand still.
void write_over(const std::string& text);

}  // namespace dragoman
