// A program beside the server: what is read of it, how it is ended, and that it gets only what it should.
#include "serve/adapting/background.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "serve/test_server.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

struct Ended {
  ProgramEnd end;
  std::vector<std::string> lines;
};

Ended run_script(const std::string& script, const std::stop_token& stop = {},
                 std::chrono::milliseconds grace = std::chrono::seconds(20)) {
  Ended ended;
  ended.end = run_in_background(
      {"/bin/sh", "-c", script}, stop, [&](std::string_view line) { ended.lines.emplace_back(line); }, grace);
  return ended;
}

// Neither there nor waiting for its parent to notice that it has ended.
bool has_ended(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/cmdline");
  return file.get() == std::ifstream::traits_type::eof();
}

pid_t process_in(const std::string& file) {
  pid_t process = 0;
  std::ifstream(file) >> process;
  return process;
}

TEST(BackgroundProgram, ItsOutputAndItsLinesAreRead) {
  const Ended ended = run_script("echo one >&2; echo result; printf 'two\\nthree' >&2; exit 3");
  EXPECT_EQ(ended.end.code, 3);
  EXPECT_EQ(ended.end.output, "result\n");
  EXPECT_EQ(ended.lines, (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(run_script("kill -KILL $$").end.code, 128 + SIGKILL);
  EXPECT_EQ(run_in_background({"/none"}, {}, [](std::string_view) {}).code, 127);
}

TEST(BackgroundProgram, MuchOutputIsReadButNotKept) {
  const Ended ended = run_script("head -c 1000000 /dev/zero | tr '\\0' x; echo done >&2");
  EXPECT_EQ(ended.end.code, 0);
  EXPECT_EQ(ended.end.output, std::string(64 << 10, 'x'));
  EXPECT_EQ(ended.lines.back(), "done");
}

TEST(BackgroundProgram, HasTheLowestPriorityAndNoFilesOfTheServer) {
  const TemporaryFolder folder;
  const int inherited = open(folder.write("file", "x").c_str(), O_RDONLY);  // not O_CLOEXEC
  ASSERT_GE(inherited, 3);
  const std::string number = std::to_string(inherited);
  const Ended ended =
      run_script("cut -d' ' -f19 /proc/self/stat; [ -e /proc/$$/fd/0 ] && echo input; [ -e /proc/$$/fd/" +
                 number + " ] && echo inherited");
  close(inherited);
  EXPECT_EQ(ended.end.output, "19\ninput\n");
}

TEST(BackgroundProgram, IsAskedToEndAndThenKilled) {
  const TemporaryFolder folder;
  const auto stopped_while = [&](const std::string& script, std::chrono::milliseconds grace) {
    std::filesystem::remove(folder.path("began"));
    std::stop_source stop;
    std::jthread stopping([&] {
      EXPECT_TRUE(eventually([&] { return std::filesystem::exists(folder.path("began")); }));
      stop.request_stop();
    });
    return run_script(script + " : > " + folder.path("began") + "; while :; do sleep 0.01; done",
                      stop.get_token(), grace)
        .end.code;
  };
  EXPECT_EQ(stopped_while("trap 'exit 5' TERM;", std::chrono::seconds(20)), 5);
  EXPECT_EQ(stopped_while("trap '' TERM;", std::chrono::milliseconds(50)), 128 + SIGKILL);
}

TEST(BackgroundProgram, DoesNotOutliveAServerThatIsKilled) {
  const TemporaryFolder folder;
  const std::string started = folder.path("started");
  const pid_t server = fork();
  if (server == 0) {
    run_script("echo $$ > " + started + ".new; mv " + started + ".new " + started + "; exec sleep 100");
    _exit(0);
  }
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(started); }));
  const pid_t program = process_in(started);
  ASSERT_GT(program, 0);
  EXPECT_FALSE(has_ended(program));
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return has_ended(program); }));
}

}  // namespace
}  // namespace dragoman::internal
