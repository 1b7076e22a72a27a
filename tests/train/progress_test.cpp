// What a terminal shows of a run.
#include "train/progress.h"

#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <regex>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/log.h"
#include "text/columns.h"

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
  void set_columns(int columns) const {
    const winsize size = {
        .ws_row = 24, .ws_col = static_cast<uint16_t>(columns), .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(ioctl(other_end_, TIOCSWINSZ, &size), 0);
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

// The longest line, in columns, without what only moves the cursor or sets the style.
int64_t longest_line(const std::string& written) {
  std::istringstream lines(std::regex_replace(written, std::regex("\x1b\\[[?0-9]*[a-zA-Z]|\r"), ""));
  int64_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, columns_of(line));
  return longest;
}

const ValidationReport& whole_report() {
  static const ValidationReport report = {
      .epoch = 12,
      .step = 123456,
      .training_loss = 4.4787,
      .tokens_per_second = 12105,
      .loss = 2.9998,
      .bleu = 31.8,
      .chrf = 52.1,
      .samples = {
          {"The quick brown fox jumps over the lazy dog, and the dog does not even open an eye, or an ear.",
           "素早い茶色の狐がのろまな犬を飛び越えるが、犬は目を開けようともせず、耳を動かそうともしない。それ"
           "だけの話である。",
           std::string(200, 'e') + "\u0301"}}};
  return report;
}

TEST(ProgressTest, NoLineIsLongerThanTheTerminal) {
  set_log_level(LogLevel::info);
  const Terminal terminal;
  Progress progress;
  const UpdateReport update = {
      .epoch = 12, .step = 123456, .unsmoothed_loss = 4.321, .tokens_per_second = 12345, .done = 0.5};
  progress.show(update);
  for (const int columns : {24, 60, 72, 80}) {
    SCOPED_TRACE(columns);
    terminal.set_columns(columns);
    std::this_thread::sleep_for(std::chrono::milliseconds(210));  // it is not drawn more often
    UpdateReport later = update;
    later.done = 0.6;
    progress.show(later);
    const std::string status = terminal.written();
    EXPECT_NE(status.find("60 %"), status.npos) << status;
    EXPECT_EQ(status.find(" left") != status.npos, columns >= 60) << status;
    EXPECT_EQ(status.find("tokens/s") != status.npos, columns >= 72) << status;
    EXPECT_EQ(status.find("█") != status.npos, columns >= 80) << status;
    EXPECT_LE(longest_line(status), columns) << status;
    progress.show_sample(whole_report());
    const std::string samples = terminal.written();
    EXPECT_NE(samples.find("…"), samples.npos) << samples;
    EXPECT_LE(longest_line(samples), columns) << samples;
    EXPECT_GE(longest_line(samples), columns - 1) << samples;  // a wide character may not fit
    EXPECT_LE(columns_of(log_line_of(whole_report(), log_columns())), columns);
  }
}

TEST(ProgressTest, AValidationHasWhatFits) {
  const std::string whole =
      "epoch  12  step 123456  training loss 4.4787  validation loss 2.9998  BLEU 31.8  chrF 52.1  12105 "
      "tokens/s";
  EXPECT_EQ(log_line_of(whole_report()), whole);
  EXPECT_EQ(log_line_of(whole_report(), columns_of(whole)), whole);
  EXPECT_EQ(log_line_of(whole_report(), 80),
            "epoch  12  step 123456  train 4.479  valid 3.000  BLEU 31.8  chrF 52.1");
  EXPECT_EQ(log_line_of(whole_report(), 60), "epoch  12  step 123456  train 4.479  valid 3.000  BLEU 31.8");
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
