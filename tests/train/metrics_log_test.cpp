#include "train/metrics_log.h"

#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"

namespace dragoman::internal {
namespace {

class Log : public testing::Test {
 protected:
  ~Log() override { std::remove(path_.c_str()); }

  // "train 1, train 2, ..." of the file.
  std::string events() const {
    std::string text;
    unreadable_ = read_metrics(path_, [&](const MetricsEvent& event) {
      text += (text.empty() ? "" : ", ") + event.event + " " + std::to_string(event.step);
    });
    return text;
  }

  void append(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }

  const std::string path_ = testing::TempDir() + "log";
  mutable int64_t unreadable_ = 0;
};

TEST_F(Log, ALineHasEventStepAndTimeAndThenTheValuesInOrder) {
  EXPECT_EQ(
      metrics_line("train", 7, 1700000000.12345, {{"loss", 2.5}, {"epoch", 1}, {"a", "é\n<"}}),
      "{\"event\":\"train\",\"step\":7,\"time\":1700000000.123,\"loss\":2.5,\"epoch\":1,\"a\":\"é\\n<\"}\n");
}

TEST_F(Log, IsReadAsItWasWritten) {
  {
    MetricsLog log(path_);
    log.write("train", 1, {{"loss", 0.1}, {"name", "x"}});
    // What was written is in the file, whatever becomes of the program.
    EXPECT_EQ(events(), "train 1");
    EXPECT_EQ(read_file(path_).size(), static_cast<size_t>(log.bytes()));
  }
  read_metrics(path_, [&](const MetricsEvent& event) {
    EXPECT_EQ(event.number("loss"), 0.1);
    EXPECT_TRUE(std::isnan(event.number("name")));
    EXPECT_TRUE(std::isnan(event.number("none")));
    EXPECT_EQ(event.text("name"), "x");
    EXPECT_EQ(event.text("loss"), "");
    EXPECT_GT(event.time, 1.6e9);
  });
}

TEST_F(Log, CutAfterARollbackItKeepsOneKindOfEvent) {
  MetricsLog log(path_);
  log.write("train", 1, {});
  const int64_t keep = log.bytes();
  log.write("train", 2, {});
  log.write("divergence", 2, {});
  log.write("train", 3, {});
  log.cut(keep, "divergence");
  log.write("train", 2, {});
  EXPECT_EQ(events(), "train 1, divergence 2, train 2");
  EXPECT_EQ(read_file(path_).size(), static_cast<size_t>(log.bytes()));
}

TEST_F(Log, MovedAwayItIsCutWithoutAnError) {
  MetricsLog log(path_);
  log.write("train", 1, {});
  std::filesystem::rename(path_, path_ + ".moved");
  EXPECT_EQ(metrics_bytes_until(path_, 1), 0);
  log.cut(metrics_bytes_until(path_, 1), "divergence");
  log.write("train", 2, {});
  EXPECT_EQ(metrics_bytes_until(path_ + ".moved", 2), log.bytes()) << "what was moved is not whole";
  EXPECT_THROW(read_metrics(path_, [](const MetricsEvent&) {}), Error);
}

TEST_F(Log, NonFiniteNumbersAreValidJson) {
  const double infinity = std::numeric_limits<double>::infinity();
  MetricsLog log(path_);
  log.write("train", 1, {{"loss", std::nan("")}, {"a", infinity}, {"b", -infinity}, {"c", 1.0}});
  EXPECT_NE(read_file(path_).find("\"loss\":null,\"a\":null,\"b\":null,\"c\":1.0,"
                                  "\"not_finite\":{\"loss\":\"nan\",\"a\":\"inf\",\"b\":\"-inf\"}}"),
            std::string::npos);
  read_metrics(path_, [&](const MetricsEvent& event) {
    EXPECT_TRUE(std::isnan(event.number("loss")));
    EXPECT_EQ(event.number("a"), infinity);
    EXPECT_EQ(event.number("b"), -infinity);
    EXPECT_EQ(event.number("c"), 1.0);
  });
}

TEST_F(Log, AnIntegerIsWrittenAsOne) {
  append(R"({"event":"train","step":1e19,"epoch":3,"a":-1e300,"b":2.5,"c":"4"})"
         "\n");
  read_metrics(path_, [&](const MetricsEvent& event) {
    EXPECT_EQ(event.step, 0);
    EXPECT_EQ(event.integer("epoch"), 3);
    for (const char* name : {"a", "b", "c", "d"}) EXPECT_EQ(event.integer(name), 0) << name;
  });
}

TEST_F(Log, AResumeCutsOffLaterEvents) {
  int64_t checkpoint = 0;
  {
    MetricsLog log(path_);
    log.write("train", 1, {{"loss", 3.0}});
    checkpoint = log.bytes();
    log.write("validation", 1, {});
    log.write("train", 2, {});
  }
  append("{\"event\":\"train\",\"st");  // killed while it wrote
  MetricsLog log(path_, checkpoint);
  EXPECT_EQ(log.bytes(), checkpoint);
  log.write("resume", 1, {});
  EXPECT_EQ(events(), "train 1, resume 1");
  EXPECT_EQ(unreadable_, 0);
}

TEST_F(Log, AFileShorterThanExpectedKeepsItsCompleteLines) {
  append("{\"event\":\"train\",\"step\":1}\n{\"event\":\"tr");
  MetricsLog log(path_, 1'000'000);
  log.write("resume", 1, {});
  EXPECT_EQ(events(), "train 1, resume 1");
  EXPECT_EQ(unreadable_, 0);
}

TEST_F(Log, ACutInsideALineFallsBackToTheLineBefore) {
  append("{\"event\":\"train\",\"step\":1}\n{\"event\":\"train\",\"step\":2}\n");
  MetricsLog log(path_, 30);
  EXPECT_EQ(events(), "train 1");
}

TEST_F(Log, ANewRunStartsAnEmptyHistory) {
  append("{\"event\":\"train\",\"step\":1}\n");
  MetricsLog log(path_);
  EXPECT_EQ(read_file(path_), "");
}

TEST_F(Log, HistoryUpToAStep) {
  const std::string first = "{\"event\":\"train\",\"step\":1}\n", torn = "{\"ev\n";
  append(first + torn + "{\"event\":\"train\",\"step\":3}\n{\"event\":\"train\",\"step\":2}\n");
  EXPECT_EQ(metrics_bytes_until(path_, 0), 0);
  EXPECT_EQ(metrics_bytes_until(path_, 2), static_cast<int64_t>(first.size() + torn.size()));
  EXPECT_EQ(metrics_bytes_until(path_, 3), static_cast<int64_t>(read_file(path_).size()));
}

TEST_F(Log, LinesThatAreNotEventsAreCountedAndSkipped) {
  append(
      "{\"event\":\"train\",\"step\":1}\nrubbish\n[1]\n{\"step\":2}\n\n{\"event\":\"end\",\"step\":\"x\"}\n{"
      "\"event\":");
  EXPECT_EQ(events(), "train 1, end 0");
  EXPECT_EQ(unreadable_, 4);
}

TEST_F(Log, InvalidUtf8IsReplaced) {
  MetricsLog log(path_);
  log.write("sample", 1, {{"translation", "a\xff"}});
  read_metrics(path_, [&](const MetricsEvent& event) { EXPECT_EQ(event.text("translation"), "a\ufffd"); });
}

// A limit on the size of files stands for a full disk: half a line is written, then none.
TEST_F(Log, AFullDiskDoesNotStopTrainingAndLeavesNoHalfLine) {
  set_log_level(LogLevel::off);
  MetricsLog log(path_);
  log.write("train", 1, {});
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit whole = {};
  getrlimit(RLIMIT_FSIZE, &whole);
  const rlimit small = {static_cast<rlim_t>(log.bytes()) + 10, whole.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  log.write("train", 2, {});
  setrlimit(RLIMIT_FSIZE, &whole);
  std::signal(SIGXFSZ, SIG_DFL);
  log.write("train", 3, {});
  set_log_level(LogLevel::info);
  EXPECT_EQ(events(), "train 1, train 3");
  EXPECT_EQ(unreadable_, 0);
  EXPECT_EQ(read_file(path_).size(), static_cast<size_t>(log.bytes()));
}

TEST_F(Log, AnUnwritablePathIsAnError) { EXPECT_THROW(MetricsLog("/nowhere/metrics.jsonl"), Error); }

}  // namespace
}  // namespace dragoman::internal
