// Logging: progress and warnings are discarded until set_log is called.
#pragma once

#include <functional>
#include <string_view>

#include "dragoman/export.h"

namespace dragoman {

enum class LogLevel { debug, info, warning, off };

// Lines of this level and above go to `sink`, one at a time, from whichever thread; without a sink to standard error. What
// it throws is dropped, and it must not call this library.
DRAGOMAN_API void set_log(LogLevel level, std::function<void(LogLevel, std::string_view)> sink = {});

}  // namespace dragoman
