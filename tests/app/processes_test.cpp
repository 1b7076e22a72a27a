// Several processes that train one model: their results, and what happens when one is lost.
#include <chrono>
#include <csignal>
#include <thread>

#include <fmt/format.h>

#include "app/process_runs.h"
#include "base/random.h"
#include "base/threads.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

using ProcessesTest = ProcessRuns;

// Adam divides by the root of squares that start at 0, so that its first steps amplify rounding errors. A large epsilon
// avoids that.
const std::vector<std::string> smooth = {"--training.epsilon=1e-3", "--training.max_steps=20"};

TEST_F(ProcessesTest, MatchOneProcessThatAccumulates) {
  with_processes(3);
  ASSERT_EQ(run("three", smooth), 0) << log();
  with_one();
  std::vector<std::string> more = smooth;
  more.push_back("--training.accumulate=6");
  ASSERT_EQ(run("one", more), 0) << log();
  expect_near("three", "one", 2e-5f);
}

TEST_F(ProcessesTest, AreReproducible) {
  with_processes(2);
  ASSERT_EQ(run("first"), 0) << log();
  ASSERT_EQ(run("second"), 0) << log();
  EXPECT_EQ(results("first"), results("second"));
  EXPECT_EQ(history("first"), history("second"));
}

TEST_F(ProcessesTest, CanSendGradientsInBf16) {
  with_processes(2);
  ASSERT_EQ(run("fp32", smooth), 0) << log();
  std::vector<std::string> more = smooth;
  more.push_back("--training.reduce_as=bf16");
  ASSERT_EQ(run("bf16", more), 0) << log();
  expect_near("fp32", "bf16", 2e-3f);
  EXPECT_NE(weights("fp32"), weights("bf16"));
}

TEST_F(ProcessesTest, KilledAtRandomInstantsTheyEndWithTheSameBits) {
  with_processes(2);
  ASSERT_EQ(run("whole"), 0) << log();
  Random random(3);
  for (const int number : {1, 0, 1, 1, 0}) {
    const pid_t launcher = start("killed");
    const pid_t child = process(launcher, number);
    std::this_thread::sleep_for(std::chrono::milliseconds(random.below(600)));
    send(child, SIGKILL);
    wait_for(launcher);
  }
  ASSERT_EQ(run("killed"), 0) << log();
  EXPECT_EQ(results("killed"), results("whole"));
  EXPECT_EQ(history("killed"), history("whole"));
}

const std::vector<std::string> unlimited = {"--training.max_steps=1000000", "--validation.every=1000000"};

TEST_F(ProcessesTest, DeathIsReported) {
  for (const int number : {1, 0}) {
    with_processes(2);
    const std::string out = "lost" + std::to_string(number);
    const pid_t launcher = start(out, unlimited);
    send(training_process(launcher, number, out), SIGKILL);
    EXPECT_NE(wait_for(launcher), 0);
    EXPECT_NE(log().find("process " + std::to_string(number) + " of 2 ("), std::string::npos) << log();
    EXPECT_NE(log().find("has died"), std::string::npos) << log();
  }
}

TEST_F(ProcessesTest, HangingIsReportedAndTheOthersStop) {
  with_processes(2);
  std::vector<std::string> more = unlimited;
  more.push_back("--training.heartbeat_timeout=2");
  const pid_t launcher = start("hung", more);
  const pid_t child = training_process(launcher, 1, "hung");
  const auto begin = Clock::now();
  send(child, SIGSTOP);
  EXPECT_NE(wait_for(launcher), 0);
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), 7) << "the default is 8";
  EXPECT_NE(log().find("process 1 of 2 ("), std::string::npos) << log();
  EXPECT_NE(log().find("does not respond"), std::string::npos) << log();
  EXPECT_NE(log().find("run the same command to resume"), std::string::npos) << log();
}

TEST_F(ProcessesTest, SlownessIsTolerated) {
  with_processes(2);
  ASSERT_EQ(run("whole"), 0) << log();
  const pid_t launcher = start("late", {"--training.heartbeat_timeout=2"});
  const pid_t child = training_process(launcher, 1, "late");
  for (int i = 0; i < 2; ++i) {  // together longer than the timeout
    send(child, SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(1300));
    send(child, SIGCONT);
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  ASSERT_EQ(wait_for(launcher), 0) << log();
  EXPECT_EQ(results("late"), results("whole"));
}

TEST_F(ProcessesTest, ASignalToOneStopsAllAfterTheStep) {
  with_processes(2);
  const pid_t launcher = start("stopped", {"--checkpoints.every=1000000", endless_});
  const pid_t child = process(launcher, 1);
  ASSERT_GT(child, 0);
  EXPECT_NE(stop(launcher, child, "stopped", SIGTERM), 0);
  const std::string text = log(), said = "stopped at step ";
  EXPECT_NE(text.find("and saved: run the same command to resume"), std::string::npos) << text;
  const int step = std::atoi(text.substr(std::min(text.size(), text.find(said) + said.size())).c_str());
  EXPECT_TRUE(std::filesystem::exists(path("stopped") + fmt::format("/checkpoints/step-{:08}", step)))
      << step;
  const int64_t end = step + 20;
  ASSERT_EQ(run("stopped", {steps(end)}), 0) << log();
  ASSERT_EQ(run("whole", {steps(end)}), 0) << log();
  EXPECT_EQ(results("stopped", end), results("whole", end));
  EXPECT_EQ(history("stopped"), history("whole"));
}

TEST_F(ProcessesTest, AnotherNumberOfThemResumesWithTheSameUpdatesAndSaysSo) {
  with_processes(2);
  ASSERT_EQ(run("run", {"--training.max_steps=10", "--training.epsilon=1e-3"}), 0) << log();
  with_processes(3);
  ASSERT_EQ(run("run", smooth), 0) << log();
  EXPECT_NE(log().find("with 2 processes and resumes on"), std::string::npos) << log();
  with_processes(2);
  ASSERT_EQ(run("whole", smooth), 0) << log();
  expect_near("run", "whole", 2e-5f);
}

TEST_F(ProcessesTest, AnErrorIsReportedOnce) {
  with_processes(2);
  for (const char* mistake : {"--training.optimiser=adam", "--resume=require"}) {
    std::filesystem::remove(path("log"));
    EXPECT_NE(run("none", {mistake}), 0);
    const std::string text = log();
    const size_t said = text.find("dragoman: ");
    ASSERT_NE(said, std::string::npos) << text;
    EXPECT_EQ(text.find("dragoman: ", said + 1), std::string::npos) << text;
  }
}

TEST_F(ProcessesTest, UnusedProcessorsAreReported) {
  if (available_threads() < 2) GTEST_SKIP() << "there is only one processor";
  with_processes(2);
  ASSERT_EQ(run("all", {"--training.max_steps=1"}), 0) << log();
  EXPECT_EQ(log().find("--bind-to none"), std::string::npos) << log();
  launcher_.insert(launcher_.end(), {"taskset", "-c", "0"});
  ASSERT_EQ(run("one", {"--training.max_steps=1"}), 0) << log();
  EXPECT_NE(log().find("mpirun binds its processes to 1 of this machine's"), std::string::npos) << log();
}

// A larger vocabulary than the copy task has, for gradients of several slices.
TEST_F(ProcessesTest, SumGradientsOfManySlices) {
  std::vector<std::string> more = {
      "--data.symbols=60000", "--training.max_steps=3", "--training.epsilon=1e-3", "--data.sentences=2",
      "--training.ema=0",     "--checkpoints.every=0",  "--validation.every=0"};
  with_processes(3);
  ASSERT_EQ(run("three", more), 0) << log();
  more.push_back("--training.accumulate=6");
  with_one();
  ASSERT_EQ(run("one", more), 0) << log();
  expect_near("three", "one", 2e-5f);
}

}  // namespace
}  // namespace dragoman::internal
