// The program. Exit codes: 0 success, 1 failure, 2 usage error, 130, 141 and 143 stopped by a signal.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "app/commands.h"
#include "app/failure.h"
#include "app/output.h"
#include "base/log.h"

namespace {

// A file that is opened while standard error is closed would get its number, and the log with it. What stands in for
// a closed stream cannot be used either: input cannot be read from it, nor output written to it.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
      _exit(1);
  }
}

}  // namespace

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
