// Runs that diverge: where they roll back to, what they report and what they keep.
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "train/finite.h"
#include "train/metrics_log.h"
#include "train/whole_run.h"

namespace dragoman::internal {
namespace {

class Rollback : public WholeRun {
 protected:
  Rollback() {
    recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 1};
    recipe_.training.schedule = Schedule::constant;
    recipe_.training.learning_rate = 1e-3;
    recipe_.training.max_steps = 4;
    recipe_.validation.every = 100;
    recipe_.checkpoints.every = 1;
  }

  // From here on an update makes the next loss NaN, in a run in progress, too.
  void make_unstable() {
    recipe_.training.learning_rate = 1e30;
    recipe_.training.max_steps = 100;
    const std::string path = folder_.path("run/config.json");
    if (!std::filesystem::exists(path)) return;
    auto config = nlohmann::json::parse(read_file(path));
    config["recipe"]["training"]["learning_rate"] = 1e30;
    write_file(path, {config.dump()});
  }

  // With which the run ends.
  std::string error() {
    try {
      train("run");
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  std::vector<int64_t> steps_of(const std::string& event) const {
    std::vector<int64_t> steps;
    read_metrics(folder_.path("run/metrics.jsonl"), [&](const MetricsEvent& one) {
      if (one.event == event) steps.push_back(one.step);
    });
    return steps;
  }
};

// Step 5 makes the weights useless, and its checkpoint with them. Four times three updates fail then.
TEST_F(Rollback, GoesToACheckpointThatAGoodUpdateFollowedAndLogsAllDivergences) {
  train("run");
  make_unstable();
  const std::string what = error();
  EXPECT_NE(what.find("the last good checkpoint is"), std::string::npos) << what;
  EXPECT_NE(what.find("step-00000004"), std::string::npos) << what;
  EXPECT_EQ(steps_of("train"), (std::vector<int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(steps_of("divergence"), std::vector<int64_t>(12, 5));
}

TEST_F(Rollback, WithoutACheckpointGoesToStep0) {
  make_unstable();
  const std::string what = error();
  EXPECT_NE(what.find("there is no good checkpoint"), std::string::npos) << what;
  EXPECT_EQ(steps_of("train"), (std::vector<int64_t>{1}));
  EXPECT_EQ(steps_of("divergence"), std::vector<int64_t>(12, 1));
}

// No loss shows it: the symbol 0 never occurs, and its row of the table is not used.
TEST_F(Rollback, ComesBeforeNumbersThatAreNotFiniteAreSaved) {
  for (const double ema : {0.0, 0.9}) {
    const std::string name = ema > 0 ? "averaged" : "plain";
    recipe_.training.ema = ema;
    Transformer* model = nullptr;
    bool spoilt = false;
    const auto spoil = [&](const UpdateReport& report) {
      if (spoilt || report.step != 3) return;
      spoilt = true;
      model->source_embedding.tokens.writable_values()[0] = std::numeric_limits<float>::quiet_NaN();
    };
    dragoman::internal::Run run(recipe_, {.folder = folder_.path(name)}, single_process(),
                                {.on_update = spoil});
    model = &run.model();
    run.train();
    EXPECT_TRUE(spoilt);
    const auto history = read_history(folder_.path(name) + "/metrics.jsonl");
    EXPECT_TRUE(history.ended);
    ASSERT_EQ(history.marks.size(), 1u);
    EXPECT_EQ(history.marks[0].event, "divergence");
    EXPECT_EQ(history.marks[0].step, 3);
    EXPECT_NE(history.marks[0].reason.find("source_embedding.weight has values that are not finite"),
              std::string::npos)
        << history.marks[0].reason;
    EXPECT_EQ(history.train.steps, (std::vector<int64_t>{1, 2, 3, 4}));
    const auto file = SafetensorsFile::open(folder_.path(name) + "/model.safetensors");
    EXPECT_EQ(first_non_finite(file.entries()), "");
  }
}

TEST_F(Rollback, NeverGoesToCheckpointsOfSignalsOrLaterSteps) {
  const Checkpoints checkpoints(folder_.path("checkpoints"), 9);
  for (const int64_t step : {2, 4, 6}) checkpoints.save(step, {}, {});
  checkpoints.save(5, {}, {}, CheckpointReason::extra);
  EXPECT_EQ(checkpoints.newest_before(7)->step, 6);
  EXPECT_EQ(checkpoints.newest_before(6)->step, 4);
  EXPECT_FALSE(checkpoints.newest_before(2));
  checkpoints.remove_after(4);
  EXPECT_EQ(checkpoints.newest()->step, 4);
}

}  // namespace
}  // namespace dragoman::internal
