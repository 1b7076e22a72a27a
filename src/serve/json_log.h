// The log as JSON objects, one a line.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace dragoman::internal {

// To standard error, in one call.
void print_json_line(const nlohmann::ordered_json& line);

// From here on all lines of base/log.h are {"time": ..., "level": ..., "message": ...}.
void log_as_json();

std::string time_now();  // "2026-01-31T12:00:00.123Z"

}  // namespace dragoman::internal
