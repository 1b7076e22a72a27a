#include "app/output.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

#include "base/files.h"
#include "base/signals.h"

namespace dragoman::internal {

void flush_output() {
  if (std::cout.flush()) return;
  if (errno == EPIPE) throw Stopped(SIGPIPE, "");
  throw Error("cannot write to standard output: {}", std::strerror(errno));
}

void check_output(const std::string& out) {
  if (out != "-") check_writable(out);
}

void write_output(const std::string& out, const std::string& contents) {
  if (out == "-") {
    std::cout << contents;
  } else {
    write_file(out, {contents});
    std::cout << out << "\n";
  }
}

}  // namespace dragoman::internal
