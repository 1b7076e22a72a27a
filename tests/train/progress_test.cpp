// What a terminal shows of a run.
#include "train/progress.h"

#include <pty.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/log.h"

namespace dragoman::internal {
namespace {

// Standard error as a terminal.
class Terminal {
 public:
  Terminal() : before_(dup(STDERR_FILENO)) {
    int terminal = -1;
    EXPECT_EQ(openpty(&other_end_, &terminal, nullptr, nullptr, nullptr), 0);
    dup2(terminal, STDERR_FILENO);
    close(terminal);
  }
  ~Terminal() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    close(other_end_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // What was written since the last call; at most four kilobytes, for which a terminal has room. It comes a moment
  // later: a mark shows where it ends.
  std::string written() const {
    constexpr char mark = '#';
    EXPECT_EQ(write(STDERR_FILENO, &mark, 1), 1);
    std::string text;
    for (char c = 0; read(other_end_, &c, 1) == 1 && c != mark;) text += c;
    return text;
  }

 private:
  int before_, other_end_ = -1;
};

const ValidationReport& two_samples() {
  static const ValidationReport report = {
      .samples = {{"A dog.", "Un chien.", "Un chat."}, {"A\tcat\x1b[2J.", "Un chat.", "Un chat."}}};
  return report;
}

TEST(ProgressTest, ATerminalShowsTheSamplesInTurn) {
  set_log_level(LogLevel::info);
  const Terminal terminal;
  Progress progress;
  progress.show_sample(two_samples());
  const std::string first = terminal.written();
  for (const char* line : {"  source       A dog.", "  reference    Un chien.", "  translation  Un chat."})
    EXPECT_NE(first.find(line), first.npos) << first;
  progress.show_sample(two_samples());
  const std::string second = terminal.written();
  EXPECT_NE(second.find("  source       A cat [2J."), second.npos) << "no control characters: " << second;
  progress.show_sample(two_samples());
  EXPECT_EQ(terminal.written(), first);
  progress.show_sample({});
  EXPECT_EQ(terminal.written(), "");
}

TEST(ProgressTest, AFileAndASilentCallerGetNoSamples) {
  set_log_level(LogLevel::info);
  testing::internal::CaptureStderr();
  Progress().show_sample(two_samples());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const Terminal terminal;
  set_log_level(LogLevel::off);
  Progress().show_sample(two_samples());
  EXPECT_EQ(terminal.written(), "");
  set_log_level(LogLevel::info);
}

}  // namespace
}  // namespace dragoman::internal
