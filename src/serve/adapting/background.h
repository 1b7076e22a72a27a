// A program beside the server: it takes what processors and disks have left (niceness 19, the idle class of input and
// output), and does not outlive the server, however that ends.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

struct ProgramEnd {
  int code = 0;        // 128 + the signal that ended it, as shells have it
  std::string output;  // what it wrote to standard output, at most 64 KiB
};

// Returns when the program has ended; throws an Error where it cannot be started. `on_line` gets its standard error,
// line by line. When `stop` is requested the program gets SIGTERM, and SIGKILL if it is still there `grace` later.
//
// The system sends it SIGTERM when the thread that started it ends, which here waits for it: so it is only when all of
// the server is killed.
ProgramEnd run_in_background(std::vector<std::string> words, const std::stop_token& stop,
                             const std::function<void(std::string_view line)>& on_line,
                             std::chrono::milliseconds grace = std::chrono::seconds(5));

}  // namespace dragoman::internal
