#include "app/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

// Exits with 0 if a file that is opened now gets a number of its own, and the streams are as unusable as before.
[[noreturn]] void open_file_without_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(stream);
  occupy_closed_streams();
  const int file = open("/dev/null", O_RDWR);
  char byte = 0;
  const bool usable = read(STDIN_FILENO, &byte, 1) >= 0 || write(STDOUT_FILENO, &byte, 1) >= 0 ||
                      write(STDERR_FILENO, &byte, 1) >= 0;
  _exit(file > STDERR_FILENO && !usable ? 0 : 1);
}

TEST(OutputDeathTest, NoFileGetsTheNumberOfAClosedStream) {
  EXPECT_EXIT(open_file_without_streams(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace dragoman::internal
