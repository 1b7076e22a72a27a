// What concerns the library as a whole: its version and its log.
#include "base/log.h"
#include "dragoman/log.h"
#include "dragoman/version.h"

namespace dragoman {

const char* version() { return DRAGOMAN_VERSION; }

void set_log(LogLevel level, std::function<void(LogLevel, std::string_view)> sink) {
  internal::set_log_level(static_cast<internal::LogLevel>(level));
  if (!sink) return internal::set_log_sink({});
  internal::set_log_sink([sink = std::move(sink)](internal::LogLevel of_line, const std::string& line) {
    try {
      sink(static_cast<LogLevel>(of_line), line);
    } catch (...) {
      // Lines are logged where nothing may be thrown, such as at the end of a thread.
    }
  });
}

}  // namespace dragoman
