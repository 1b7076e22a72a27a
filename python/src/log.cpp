// The library's log lines, which Python's logging gets (python/dragoman/_log.py).
#include <cxxabi.h>

#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "binding.h"

namespace dragoman::python {
namespace {

// Lines come from any thread, most of which must not wait for the global lock.
struct Lines {
  std::mutex mutex;
  std::deque<std::pair<LogLevel, std::string>> waiting;

  void add(LogLevel level, std::string_view text) {
    const std::lock_guard lock(mutex);
    waiting.emplace_back(level, text);
  }

  std::optional<std::pair<LogLevel, std::string>> take() {
    const std::lock_guard lock(mutex);
    if (waiting.empty()) return std::nullopt;
    auto first = std::move(waiting.front());
    waiting.pop_front();
    return first;
  }
};

Lines* lines = new Lines;  // never destroyed, as threads of the library may outlive the interpreter

void hand_over(LogLevel level, const std::string& text) {
  try {
    nb::module_::import_("dragoman._log").attr("log")(level == LogLevel::warning, text);
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_KeyboardInterrupt)) {
      PyErr_SetInterrupt();  // again, where the caller sees it
    } else {
      error.discard_as_unraisable("a line of dragoman's log");
    }
  }
}

}  // namespace

void deliver_log() {
  try {
    while (const auto line = lines->take()) hand_over(line->first, line->second);
  } catch (const abi::__forced_unwind&) {
    sleep_for_ever();
  }
}

void renew_log() { lines = new Lines; }

void bind_log(nb::module_&) {
  set_log(LogLevel::info, [](LogLevel level, std::string_view text) { lines->add(level, text); });
}

}  // namespace dragoman::python
