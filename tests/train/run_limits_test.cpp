// Where a run ends, and what it says of that.
#include "train/run_limits.h"

#include <algorithm>
#include <filesystem>

#include "base/log.h"
#include "train/metrics_log.h"
#include "train/whole_run.h"

namespace dragoman::internal {
namespace {

class RunLimits : public WholeRun {
 protected:
  RunLimits() {
    recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 1};
    recipe_.validation.every = 1;
    recipe_.training.schedule = Schedule::constant;
    recipe_.training.learning_rate = 1e-30;  // the first validation stays the best one
  }

  std::string log_of_training() {
    set_log_level(LogLevel::info);
    testing::internal::CaptureStderr();
    train("run");
    return testing::internal::GetCapturedStderr();
  }

  std::string reason() const {
    MetricsEvent last;
    read_metrics(folder_.path("run/metrics.jsonl"), [&](const MetricsEvent& event) { last = event; });
    EXPECT_EQ(last.event, "end");
    return last.text("reason");
  }
};

TEST_F(RunLimits, TheLogAndTheHistorySayWhichOneEndedTheRun) {
  recipe_.training.max_steps = 3;
  EXPECT_NE(log_of_training().find("training ended at step 3: training.max_steps is reached\n"),
            std::string::npos);
  EXPECT_EQ(reason(), "training.max_steps");
  const std::string again = log_of_training();
  EXPECT_NE(again.find("training already ended at step 3, where training.max_steps was reached: raise it"),
            std::string::npos)
      << again;
  recipe_.training.max_steps = 0;
  recipe_.training.max_epochs = 1;
  EXPECT_NE(log_of_training().find("training ended at step 7: training.max_epochs"), std::string::npos);
  EXPECT_EQ(reason(), "training.max_epochs");
}

TEST_F(RunLimits, EarlyStoppingIsCalledThat) {
  recipe_.training.max_steps = 50;
  recipe_.validation.patience = 4;
  const std::string log = log_of_training();
  EXPECT_NE(log.find("training stopped early at step 5: 4 validations without improvement since step 1"),
            std::string::npos)
      << log;
  EXPECT_EQ(reason(), "validation.patience");
}

// The first validation stays the best one: after the seventh the run cools down.
TEST_F(RunLimits, PatienceBeginsTheCooldown) {
  recipe_.validation.patience = 6;
  recipe_.training.cooldown = 0.3;
  const std::string log = log_of_training();
  EXPECT_NE(
      log.find("6 validations without improvement since step 1: the cooldown begins, and ends at step 10"),
      std::string::npos)
      << log;
  EXPECT_NE(log.find("training ended at step 10, cooled down since step 7 (validation.patience)"),
            std::string::npos)
      << log;
  EXPECT_EQ(reason(), "validation.patience");
  const std::vector<double> rates =
      *read_history(folder_.path("run/metrics.jsonl")).train.column("learning_rate");
  ASSERT_EQ(rates.size(), 10U);
  for (size_t before = 0; before < 10; ++before)
    EXPECT_DOUBLE_EQ(rates[before], 1e-30 * std::min(1.0, (1 - static_cast<double>(before) / 10) / 0.3))
        << "after " << before << " updates";
  // With more than before it goes on at the full rate, and has a second cooldown.
  recipe_.validation.patience = 8;
  EXPECT_NE(log_of_training().find("8 validations without improvement since step 1: the cooldown begins"),
            std::string::npos);
}

// Before the first epoch has ended, too, how many batches it has is known exactly.
TEST_F(RunLimits, ACooldownOverEpochsEndsWithTheLastUpdate) {
  learn_from_text(150);
  recipe_.vocabulary.sampling = 0;
  recipe_.validation.every = 1000;
  recipe_.training.batch_tokens = 60;
  recipe_.training.max_epochs = 1;
  recipe_.training.cooldown = 0.5;
  const History history = train("run");
  const std::vector<double> rates = *history.train.column("learning_rate");
  const double updates = static_cast<double>(rates.size());
  ASSERT_GT(updates, 10);
  for (size_t before = 0; before < rates.size(); ++before)
    EXPECT_DOUBLE_EQ(rates[before], 1e-30 * std::min(1.0, (1 - static_cast<double>(before) / updates) / 0.5))
        << "after " << before << " updates";
  EXPECT_GT(rates.back(), 0);
}

TEST_F(RunLimits, PatienceEndsACooldown) {
  recipe_.validation.patience = 4;
  recipe_.training.cooldown = 0.5;
  EXPECT_NE(log_of_training().find(
                "training stopped early at step 9: 4 validations without improvement since step 1"),
            std::string::npos)
      << "one that patience has begun";
  recipe_.training.max_steps = 12;
  recipe_.training.cooldown = 0.8;
  std::filesystem::remove_all(folder_.path("run"));
  EXPECT_NE(log_of_training().find(
                "training stopped early at step 5: 4 validations without improvement since step 1"),
            std::string::npos)
      << "one that another limit has begun";
}

// The batches of an epoch are an estimate at first, time passes between two looks at the clock, and a resumed run may
// have a lower limit than before.
TEST_F(RunLimits, NoMoreThanAllOfARunIsDone) {
  const auto done = [&](const RunState& state, int64_t steps = 0) {
    return fraction_done(recipe_, state, steps, /*batches_in_epoch=*/10).value();
  };
  recipe_.training.max_epochs = 2;
  EXPECT_EQ(done({.position = {.epoch = 0, .index = 13}}), 0.5) << "the second epoch is still to come";
  EXPECT_EQ(done({.position = {.epoch = 1, .index = 13}}), 1);
  recipe_.training.max_epochs = 0;
  recipe_.training.max_minutes = 1;
  EXPECT_EQ(done({.position = {}, .seconds = 45}), 0.75);
  EXPECT_EQ(done({.position = {}, .seconds = 61}), 1);
  recipe_.training.max_steps = 10;
  EXPECT_EQ(done({.position = {}, .seconds = 30}, 9), 0.9);
  EXPECT_EQ(done({.position = {}, .seconds = 30}, 12), 1);
  recipe_.training.max_steps = 0;
  recipe_.training.max_minutes = 0;
  EXPECT_FALSE(fraction_done(recipe_, {}, 5, 10));
}

}  // namespace
}  // namespace dragoman::internal
