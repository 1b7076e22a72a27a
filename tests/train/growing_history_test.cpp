// The history of a run that still writes: after each change it is what reading the whole file gives.
#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "train/history.h"

namespace dragoman::internal {
namespace {

class GrowingHistories : public testing::Test {
 protected:
  void append(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }

  void expect_the_whole() const {
    const History whole = read_history(path_), &history = growing_.history();
    EXPECT_EQ(history.train.steps, whole.train.steps);
    EXPECT_EQ(history.train.seconds, whole.train.seconds);
    EXPECT_EQ(history.train.columns, whole.train.columns);
    EXPECT_EQ(history.unreadable, whole.unreadable);
    EXPECT_EQ(history.seconds, whole.seconds);
    EXPECT_EQ(history.ended, whole.ended);
    EXPECT_EQ(history.samples.size(), whole.samples.size());
  }

  std::string line(int step) {
    return fmt::format("{{\"event\":\"train\",\"step\":{},\"time\":{},\"loss\":{}}}\n", step, step * 3,
                       random_() % 99);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.path("metrics.jsonl");
  GrowingHistory growing_{path_};
  std::mt19937 random_{7};
};

TEST_F(GrowingHistories, EqualTheFileHoweverItGrows) {
  EXPECT_FALSE(growing_.update());  // there is no file yet
  std::string pending;
  for (int step = 1; step <= 200; ++step) {
    pending += step % 17 == 0 ? "not an event\n" : line(step);
    const size_t now = random_() % (pending.size() + 1);  // often in the middle of a line
    append(pending.substr(0, now));
    pending.erase(0, now);
    growing_.update();
  }
  append(pending);
  EXPECT_TRUE(growing_.update());
  EXPECT_FALSE(growing_.update());
  expect_the_whole();
  EXPECT_EQ(growing_.history().unreadable, 200 / 17);
}

TEST_F(GrowingHistories, ReadAFileAnewThatWasCut) {
  for (int step = 1; step <= 10; ++step) append(line(step));
  growing_.update();
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  std::filesystem::resize_file(path_, 0);
  for (int step = 1; step <= 30; ++step) append(line(step));  // longer than what was read
  EXPECT_TRUE(growing_.update());
  expect_the_whole();
}

TEST_F(GrowingHistories, LeaveALineWithoutAnEndForLater) {
  append(line(1) + R"({"event":"train","st)");
  growing_.update();
  EXPECT_EQ(growing_.history().train.steps, (std::vector<int64_t>{1}));
  EXPECT_EQ(growing_.history().unreadable, 0);
  append("ep\":2,\"time\":4}\n");
  growing_.update();
  EXPECT_EQ(growing_.history().train.steps, (std::vector<int64_t>{1, 2}));
}

}  // namespace
}  // namespace dragoman::internal
