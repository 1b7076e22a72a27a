#include "app/output.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

#include "base/files.h"
#include "base/signals.h"

namespace dragoman::internal {

void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
      _exit(1);
  }
}

void flush_output() {
  if (std::cout.flush()) return;
  if (errno == EPIPE) throw Stopped(SIGPIPE, "");
  throw Error("cannot write to standard output: {}", std::strerror(errno));
}

int64_t terminal_width() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 100;
}

bool is_standard_output(const std::string& out) { return out == "-" || out == "/dev/stdout"; }

void check_output(const std::string& out) {
  if (!is_standard_output(out)) check_writable(out);
}

void write_output(const std::string& out, const std::string& contents) {
  if (is_standard_output(out)) {
    std::cout << contents;
  } else {
    write_file(out, {contents});
    std::cout << out << "\n";
  }
}

}  // namespace dragoman::internal
