#include "base/line_writer.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace dragoman::internal {

LineWriter::LineWriter(const std::string& path)
    : path_(path), temporary_(path + ".new"), file_(std::fopen(temporary_.c_str(), "wbe")) {
  if (!file_) fail("open");
}

LineWriter::~LineWriter() {
  if (!file_) return;
  file_.reset();
  unlink(temporary_.c_str());
}

void LineWriter::add(std::string_view line) {
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
  if (!written || std::fputc('\n', file_.get()) == EOF) fail("write");
  ++lines_;
}

void LineWriter::finish() {
  if (std::fflush(file_.get()) != 0 || fsync(fileno(file_.get())) != 0) fail("write");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename");
  file_.reset();
}

void LineWriter::fail(const char* action) const {
  throw Error("cannot {} {}: {}", action, temporary_, std::strerror(errno));
}

}  // namespace dragoman::internal
