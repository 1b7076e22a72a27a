#include "serve/json_log.h"

#include <chrono>
#include <cstdio>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/log.h"

namespace dragoman::internal {

void print_json_line(const nlohmann::ordered_json& line) {
  const std::string text = json_text(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void log_as_json() {
  set_log_sink([](LogLevel level, const std::string& message) {
    const char* name = level == LogLevel::warning ? "warning" : level == LogLevel::debug ? "debug" : "info";
    print_json_line({{"time", time_now()}, {"level", name}, {"message", message}});
  });
}

std::string time_now() {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)), milliseconds);
}

}  // namespace dragoman::internal
