// The program. Exit codes: 0 success, 1 failure, 2 usage error, 130, 141 and 143 stopped by a signal.
#include <csignal>

#include "app/commands.h"
#include "app/failure.h"
#include "app/output.h"
#include "base/log.h"

int main(int argc, char** argv) {
  using namespace dragoman::internal;
  occupy_closed_streams();
  report_uncaught_failures();
  set_log_level(LogLevel::info);
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond a limit on the size of files fails like any other
  try {
    run_program({argv + 1, argv + argc});
    flush_output();
    return 0;
  } catch (...) {
    return report_failure();
  }
}
