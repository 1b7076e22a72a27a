// The memory that translating a very long line takes.
#include <fcntl.h>
#include <sys/resource.h>

#include "app/translating_commands.h"

namespace dragoman::internal {
namespace {

class LongLine : public TranslatingCommands {
 protected:
  // The most memory, in bytes, that the program has while it translates a line.
  int64_t peak_memory_of(const std::string& line, const std::string& format) const {
    const std::string input = write("line", line + "\n");
    const pid_t child = fork();
    if (child == 0) {
      dup2(open(input.c_str(), O_RDONLY), STDIN_FILENO);
      dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
      dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
      execl(DRAGOMAN_PROGRAM, DRAGOMAN_PROGRAM, "translate", "--model", folder_.path.c_str(), "--threads",
            "1", "--beam", "1", "--max-length", "10", "--format", format.c_str(), nullptr);
      _exit(127);
    }
    int status = 0;
    rusage usage = {};
    wait4(child, &status, 0, &usage);
    EXPECT_EQ(status, 0);
    return 1024 * usage.ru_maxrss;
  }
};

// A tiny vocabulary has a subword for every two bytes, each of which takes 24 bytes until the line is done.
TEST_F(LongLine, MemoryIsASmallMultipleOfItsLength) {
#if defined(DRAGOMAN_ADDRESS_SANITIZER) || defined(DRAGOMAN_THREAD_SANITIZER)
  GTEST_SKIP() << "a sanitizer's memory would be measured";
#endif
  std::string line;
  while (line.size() < 400'000) line += "the cat sleeps the dog ";
  for (const auto& [format, factor] : {std::pair("text", 80), {"json", 160}}) {
    const int64_t more = peak_memory_of(line, format) - peak_memory_of("the cat", format);
    EXPECT_LT(more, factor * std::ssize(line)) << format;
  }
}

}  // namespace
}  // namespace dragoman::internal
