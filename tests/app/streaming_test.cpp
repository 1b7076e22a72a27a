// dragoman translate and score while their input comes and their output is read: what they say when, and how they end.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "app/commands.h"
#include "app/translating_commands.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/memory.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

// A conversation with the program: both ends are pipes. What it complains of goes to a file.
class Conversation {
 public:
  Conversation(const std::vector<std::string>& arguments, const std::string& errors,
               bool ignores_sigpipe = false) {
    std::vector<const char*> words = {DRAGOMAN_PROGRAM};
    for (const std::string& argument : arguments) words.push_back(argument.c_str());
    words.push_back(nullptr);
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) return;
    child_ = fork();
    if (child_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      dup2(creat(errors.c_str(), 0600), STDERR_FILENO);
      if (ignores_sigpipe) signal(SIGPIPE, SIG_IGN);
      alarm(100);  // it ends, whatever it waits for
      execv(DRAGOMAN_PROGRAM, const_cast<char* const*>(words.data()));
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1], from_ = out[0];
  }
  ~Conversation() {
    close(to_);
    close(from_);
  }

  void say(const std::string& text) const {
    for (size_t said = 0; said < text.size();) {
      const ssize_t n = ::write(to_, text.data() + said, text.size() - said);
      ASSERT_GT(n, 0);
      said += static_cast<size_t>(n);
    }
  }
  // The next bytes that it prints; empty where none come within some seconds.
  std::string hear() const {
    pollfd watched = {.fd = from_, .events = POLLIN, .revents = 0};
    char text[4096];
    if (poll(&watched, 1, 20'000) <= 0) return "";
    const ssize_t n = read(from_, text, sizeof text);
    return {text, static_cast<size_t>(std::max<ssize_t>(n, 0))};
  }
  void stop_listening() { close(std::exchange(from_, -1)); }
  void send(int signal) const { kill(child_, signal); }
  int wait_status() const {
    int status = 0;
    waitpid(child_, &status, 0);
    return status;
  }

 private:
  pid_t child_ = -1;
  int to_ = -1, from_ = -1;
};

class StreamingCommands : public TranslatingCommands {
 protected:
  // SIGINT ends it at once, whatever it does.
  static void expect_to_stop(const Conversation& talk) {
    const auto begin = std::chrono::steady_clock::now();
    talk.send(SIGINT);
    const int status = talk.wait_status();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(is_sanitized ? 20 : 5));
  }
  static void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

  const std::vector<std::string> translate_ = {"translate", "--model", folder_.path, "--max-length", "9"};
};

TEST_F(StreamingCommands, AnswersEachLineAndStopsWhenAsked) {
  Conversation talk(translate_, file("err"));
  for (int i = 0; i < 3; ++i) {
    talk.say("The cat sleeps.\n");
    EXPECT_NE(talk.hear().find('\n'), std::string::npos) << "line " << i;
  }
  expect_to_stop(talk);
}

TEST_F(StreamingCommands, StopsWhileItReadsALineOfMegabytes) {
  Conversation talk(translate_, file("err"));
  std::string line;
  while (line.size() < 3'000'000) line += "the cat sleeps ";
  talk.say(line + "\n");
  wait_a_little();
  expect_to_stop(talk);
}

// The half comes while the line before it is translated.
TEST_F(StreamingCommands, HalfALineKeepsNoOtherBack) {
  Conversation talk(translate_, file("err"));
  std::string line;
  while (line.size() < 30'000) line += "The cat sleeps. ";
  talk.say(line + "\n");
  wait_a_little();
  talk.say("Where is");
  EXPECT_FALSE(talk.hear().empty());
}

TEST_F(StreamingCommands, AClosedOutputEndsItQuietly) {
  for (const bool ignores_sigpipe : {false, true}) {
    Conversation talk(translate_, file("err"), ignores_sigpipe);
    talk.say("The cat sleeps.\n");
    EXPECT_FALSE(talk.hear().empty());
    talk.stop_listening();
    talk.say("The cat sleeps.\n");
    const int status = talk.wait_status();
    if (ignores_sigpipe) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGPIPE) << status;
    } else {
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE) << status;
    }
    EXPECT_EQ(read_file(file("err")), "");
  }
}

// A pair is scored in one piece, however long it takes; it comes next once the 256 before it are printed.
TEST_F(StreamingCommands, ScoringALongPairStopsAtOnce) {
  std::string pairs;
  for (int i = 0; i < 256; ++i) pairs += "The cat sleeps.\n";
  const std::string both = write("both", pairs + std::string(400'000, 'x') + "\n");
  Conversation talk(
      {"score", "--model", folder_.path, "--max-length", "1000000", "--source", both, "--target", both},
      file("err"));
  EXPECT_FALSE(talk.hear().empty());
  wait_a_little();
  talk.send(SIGINT);
  const int status = talk.wait_status();
  EXPECT_EQ(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), 130)
      << "142: only SIGALRM ended it";
}

// The lines of a compressed file that is cut off, up to there.
TEST_F(StreamingCommands, WhatWasReadComesOutBeforeTheError) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "It is cold " + std::to_string(i * i) + "\n";
  const std::string gzip = "gzip -c <" + write("text", text) + " >" + file("whole");
  ASSERT_EQ(std::system(gzip.c_str()), 0);
  const std::string whole = read_file(file("whole")), cut = write("cut", whole.substr(0, whole.size() / 2));
  size_t readable = 0;
  LineReader lines(cut);
  EXPECT_THROW(for (std::string_view line; lines.next(line);)++ readable, Error);
  ASSERT_GT(readable, 50U);
  const std::string command =
      "translate --beam 1 --max-length 1 --model " + folder_.path + " " + file("text");
  EXPECT_EQ(lines_of(run(command + " " + cut, "", 1)).size(), 400 + readable);
  EXPECT_NE(errors_.find("the file is truncated"), std::string::npos) << errors_;
  EXPECT_EQ(run(command + " /nowhere", "", 1), "");
  EXPECT_EQ(errors_, "dragoman: cannot read /nowhere: No such file or directory\n") << "before the work";
  run(command + " " + folder_.path, "", 1);
  EXPECT_NE(errors_.find("it is a folder"), std::string::npos) << errors_;
}

// Lines of much white space: they are long, and there is little to translate.
TEST_F(StreamingCommands, TranslatingTakesMemoryForItsBatchesAlone) {
  if (is_sanitized) GTEST_SKIP() << "a sanitizer keeps what is given back";
  const auto peak = [&](int lines) {
    std::ofstream text(file("lines"));
    for (int i = 0; i < lines; ++i) text << fmt::format("{:10000}\n", i);
    text.close();
    forget_peak_memory();
    testing::internal::CaptureStdout();
    dragoman::internal::translate(
        {"--model", folder_.path, "--batch", "4", "--beam", "1", "--max-length", "1", file("lines")});
    EXPECT_EQ(std::ssize(lines_of(testing::internal::GetCapturedStdout())), lines);
    return peak_memory();
  };
  const int64_t few = peak(80);
  EXPECT_LT(peak(4000), few + (int64_t{12} << 20));  // of 40 MB
}

}  // namespace
}  // namespace dragoman::internal
