// A signal interrupts a validation: the resumed run repeats it.
#include <chrono>
#include <csignal>
#include <thread>

#include "app/training_runs.h"

namespace dragoman::internal {
namespace {

class StoppedValidation : public TrainingRuns, public testing::WithParamInterface<int> {
 protected:
  // Whether this step is done; and saved, if its validation comes after that, as it does at the end of a run.
  bool is_done(int step) const {
    const std::string log = path("stopped") + "/metrics.jsonl";
    const std::string event = "\"event\":\"train\",\"step\":" + std::to_string(step) + ",";
    const auto saved = Checkpoints(path("stopped") + "/checkpoints", 3).list();
    return std::filesystem::exists(log) && read_file(log).find(event) != std::string::npos &&
           (step < 60 || (!saved.empty() && saved.back().step == step));
  }
};

TEST_P(StoppedValidation, IsRepeatedByTheResumedRun) {
  const int step = GetParam();  // after which the interrupted validation comes
  const std::vector<std::string> slow = {"--data.valid_batches=400",
                                         "--validation.every=" + std::to_string(step < 60 ? step : 1000)};
  ASSERT_EQ(wait_for(start("whole", slow)), 0) << read_file(path("log"));
  const pid_t child = start("stopped", slow);
  while (!is_done(step)) std::this_thread::sleep_for(std::chrono::microseconds(200));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(child, SIGINT);
  ASSERT_EQ(wait_for(child), 128 + SIGINT) << read_file(path("log"));
  ASSERT_EQ(history("stopped").back().at("event"), "epoch") << "the signal waited for its end";
  ASSERT_EQ(history("stopped").back().at("step"), step);
  ASSERT_EQ(wait_for(start("stopped", slow)), 0) << read_file(path("log"));
  EXPECT_EQ(results("stopped"), results("whole"));
  EXPECT_EQ(history("stopped"), history("whole"));
}

INSTANTIATE_TEST_SUITE_P(Signals, StoppedValidation, testing::Values(40, 60),
                         [](const auto& test) { return "AtStep" + std::to_string(test.param); });

}  // namespace
}  // namespace dragoman::internal
