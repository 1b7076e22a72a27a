// What can go wrong: the user's mistakes and our own.
//
//   throw Error("{}:{}: ...", file, line)    A user's mistake: bad input, a missing file, a full disk. The
//                                            message is one sentence: what, where, what to try.
//   throw UsageError(...)                    The same for a wrong command line or option: exit code 2.
//   CHECK(a.columns == b.rows, "product of {} and {}", a.shape, b.shape)
//                                            A broken invariant: ours, never the user's. Always on.
//
// A message with values is an fmt format string, checked at compile time; one without is taken literally.
// All three throw; only app/main.cpp catches them, prints a line to standard error and returns an exit code.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "dragoman/error.h"

namespace dragoman::internal {

// The public error, with a message that is formatted.
class Error : public dragoman::Error {
 public:
  using dragoman::Error::Error;

  template <typename First, typename... Rest>
  Error(fmt::format_string<First, Rest...> message, First&& first, Rest&&... rest)
      : dragoman::Error(fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, ErrorKind::usage) {}

  template <typename First, typename... Rest>
  UsageError(fmt::format_string<First, Rest...> message, First&& first, Rest&&... rest)
      : UsageError(fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

// What a failed CHECK throws: file, line, the condition and the message.
class BrokenInvariant : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& message = {});

}  // namespace dragoman::internal

// The project's only macro, since only a macro knows its condition's text and place. The message is
// formatted only on failure.
#define CHECK(condition, ...)                                                                  \
  do {                                                                                         \
    if (!(condition)) [[unlikely]]                                                             \
      ::dragoman::internal::check_failed(__FILE__, __LINE__,                                   \
                                         #condition __VA_OPT__(, ::fmt::format(__VA_ARGS__))); \
  } while (false)
