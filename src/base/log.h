// Progress and warnings, one line each on standard error. Standard output carries results only.
//
//   log_info("epoch {}: {:.3f}", epoch, loss);
//
// Each line is written in one call, so that threads do not mix theirs. Errors are thrown instead (error.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace dragoman::internal {

enum class LogLevel { debug, info, warning, off };

// Lines below this level are dropped. At first all are: the program sets info (app/main.cpp).
void set_log_level(LogLevel level);
bool is_logged(LogLevel level);

void log_line(LogLevel level, const std::string& message);

// Takes the lines instead of standard error, one at a time; none: standard error again.
using LogSink = std::function<void(LogLevel level, const std::string& message)>;
void set_log_sink(LogSink sink);

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

// Columns of the terminal that the lines go to; none where they go to a file or a sink.
std::optional<int64_t> log_columns();

// For a terminal: a status line on standard error that the next one, or a line of the log, overwrites; an empty text
// removes it. It is cut to the terminal's width, since a line that wraps could not be overwritten. Nothing where a sink
// takes the lines.
void write_over(const std::string& text);

}  // namespace dragoman::internal
