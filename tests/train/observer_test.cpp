// Following a run, and stopping it without a signal.
#include "train/observer.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/files.h"
#include "base/signals.h"
#include "parallel/thread_processes.h"
#include "train/metrics_log.h"
#include "train/whole_run.h"

namespace dragoman::internal {
namespace {

// Everything that a state can hold: updates of several batches that do not divide an epoch, dropout, a moving average.
class Observed : public WholeRun {
 protected:
  Observed() {
    recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 3};
    recipe_.training.accumulate = 2;
    recipe_.training.ema = 0.9;
    recipe_.training.max_steps = 12;
    recipe_.validation.every = 5;
    recipe_.validation.metrics = {"loss", "chrf"};
    recipe_.validation.samples = 2;
    recipe_.checkpoints.every = 4;
  }

  void train(const std::string& name, const TrainingObserver& observer = {}) {
    dragoman::internal::Run(recipe_, {.folder = folder_.path(name)}, single_process(), observer).train();
  }

  // Trains until the observer stops it. Where it stands then.
  int64_t train_until_stopped(const std::string& name, const TrainingObserver& observer) {
    try {
      train(name, observer);
      ADD_FAILURE() << "it was not stopped";
    } catch (const Stopped& stopped) {
      EXPECT_EQ(stopped.signal, 0);
      EXPECT_NE(std::string(stopped.what()).find("run the same command to resume"), std::string::npos);
    }
    return checkpoints(name).newest().value().step;
  }

  // Stopped after this update.
  int64_t train_until(const std::string& name, int64_t step) {
    bool stop = false;
    return train_until_stopped(name,
                               {.on_update = [&](const UpdateReport& report) { stop = report.step == step; },
                                .stop_requested = [&] { return stop; }});
  }

  // The learning rates of the whole run.
  std::vector<double> rates_of(const std::string& name) {
    std::vector<double> rates;
    train(name, {.on_update = [&](const UpdateReport& report) { rates.push_back(report.learning_rate); }});
    return rates;
  }

  Checkpoints checkpoints(const std::string& name) const { return {folder_.path(name) + "/checkpoints", 9}; }

  void expect_same(const std::string& a, const std::string& b) const {
    const CheckpointInfo x = checkpoints(a).newest().value(), y = checkpoints(b).newest().value();
    EXPECT_EQ(x.step, y.step);
    for (const char* file : {"/model.safetensors", "/optimizer.safetensors"}) {
      EXPECT_TRUE(read_file(x.path + file) == read_file(y.path + file)) << file;
    }
    EXPECT_TRUE(read_file(folder_.path(a) + "/model.safetensors") ==
                read_file(folder_.path(b) + "/model.safetensors"));
    EXPECT_EQ(history(a), history(b));
  }

  // Without the clock's values.
  std::vector<nlohmann::json> history(const std::string& name) const {
    std::vector<nlohmann::json> events;
    read_metrics(folder_.path(name) + "/metrics.jsonl", [&](const MetricsEvent& event) {
      if (event.event == "resume") return;
      events.push_back(event.values);
      for (const char* key : {"time", "seconds", "tokens_per_second", "target_tokens_per_second"})
        events.back().erase(key);
    });
    return events;
  }
};

TEST_F(Observed, HearsOfEachUpdateAndValidation) {
  std::vector<UpdateReport> updates;
  std::vector<ValidationReport> validations;
  train("run", {.on_update = [&](const UpdateReport& report) { updates.push_back(report); },
                .on_validation = [&](const ValidationReport& report) { validations.push_back(report); }});
  const History history = read_history(folder_.path("run") + "/metrics.jsonl");
  ASSERT_EQ(updates.size(), 12u);
  for (size_t i = 0; i < updates.size(); ++i) {
    EXPECT_EQ(updates[i].step, static_cast<int64_t>(i + 1));
    EXPECT_EQ(updates[i].loss, (*history.train.column("loss"))[i]);
    EXPECT_EQ(updates[i].learning_rate, (*history.train.column("learning_rate"))[i]);
    EXPECT_EQ(updates[i].done, static_cast<double>(i + 1) / 12);
    EXPECT_GT(updates[i].tokens_per_second, 0);
    EXPECT_FALSE(updates[i].waiting);
  }
  ASSERT_EQ(history.validation.steps, (std::vector<int64_t>{5, 10, 12}));
  ASSERT_EQ(validations.size(), 3u);
  double best = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < 3; ++i) {
    const ValidationReport& report = validations[i];
    EXPECT_EQ(report.step, history.validation.steps[i]);
    EXPECT_EQ(report.loss, (*history.validation.column("loss"))[i]);
    EXPECT_EQ(report.chrf, (*history.validation.column("chrf"))[i]);
    EXPECT_FALSE(report.bleu);
    EXPECT_TRUE(report.training_loss);
    EXPECT_EQ(report.is_best, *report.loss < best);
    best = std::min(best, *report.loss);
    ASSERT_EQ(report.samples.size(), 2u);
    EXPECT_EQ(report.samples[1].source, history.samples[1].source);
    EXPECT_FALSE(report.samples[1].reference.empty());
  }
}

TEST_F(Observed, StopsFromACallbackAndResumesToTheSameBits) {
  train("whole");
  for (const int64_t stop_at : {1, 4, 7}) {  // 4 is on schedule, 7 ends an epoch's update early
    EXPECT_EQ(train_until("stopped", stop_at), stop_at);
  }
  train("stopped");
  expect_same("stopped", "whole");
}

// By epochs, whose batches are an estimate until the first of them has ended.
TEST_F(Observed, CoolsDownToTheSameBitsAfterStops) {
  learn_from_text(150);
  recipe_.training.batch_tokens = 200;
  recipe_.training.accumulate = 1;
  recipe_.training.max_steps = 0;
  recipe_.training.max_epochs = 2;
  recipe_.training.cooldown = 0.9;
  const std::vector<double> rates = rates_of("whole");
  ASSERT_GT(rates.size(), 10u);
  EXPECT_LT(rates.back(), 0.2 * *std::ranges::max_element(rates));
  for (const int64_t stop_at : {int64_t{4}, static_cast<int64_t>(rates.size()) / 2 + 2}) {
    EXPECT_EQ(train_until("stopped", stop_at), stop_at);
  }
  train("stopped");
  expect_same("stopped", "whole");
}

// Nothing but patience ends it, and the cooldown that it begins.
TEST_F(Observed, CoolsDownAfterPatienceToTheSameBitsAfterStops) {
  recipe_.training.schedule = Schedule::constant;
  recipe_.training.learning_rate = 0.05;
  recipe_.training.max_steps = 0;
  recipe_.training.cooldown = 0.4;
  recipe_.validation.every = 2;
  recipe_.validation.patience = 3;
  const std::vector<double> rates = rates_of("whole");
  EXPECT_LT(rates.back(), 0.2 * rates.front());
  const auto last = static_cast<int64_t>(rates.size());
  for (const int64_t stop_at : {last * 5 / 8, last * 7 / 8}) {
    EXPECT_EQ(train_until("stopped", stop_at), stop_at);
  }
  train("stopped");
  expect_same("stopped", "whole");
}

// At step 5 validation is due; at step 12 it comes after the last update. Once the observer has asked, it need not ask
// again.
TEST_F(Observed, InterruptsAValidationWhichTheResumedRunRepeats) {
  train("whole");
  for (const int64_t step : {5, 12}) {
    int asked = 0;
    bool trained = false;
    const TrainingObserver observer = {
        .on_update = [&](const UpdateReport& report) { trained = report.step == step; },
        .on_validation = [&](const ValidationReport& report) { EXPECT_NE(report.step, step); },
        .stop_requested = [&] { return trained && ++asked == (step == 12 ? 3 : 2); }};
    EXPECT_EQ(train_until_stopped("stopped", observer), step);
  }
  train("stopped");
  expect_same("stopped", "whole");
}

TEST_F(Observed, IsStoppedByAnotherThread) {
  recipe_.training.max_steps = 0;
  recipe_.training.max_epochs = 1'000'000;
  recipe_.checkpoints.every = recipe_.validation.every = 1'000'000'000;
  std::atomic<bool> stop{false};
  std::atomic<int64_t> step{0};
  std::jthread other([&] {
    while (step < 3) std::this_thread::yield();
    stop = true;
  });
  const int64_t stopped_at =
      train_until_stopped("run", {.on_update = [&](const UpdateReport& report) { step = report.step; },
                                  .stop_requested = [&] { return stop.load(); }});
  EXPECT_GE(stopped_at, 3);
}

// Asked in any of several processes, of which the first alone reports.
TEST_F(Observed, StopsAllProcesses) {
  std::atomic<int> stopped{0}, reports{0};
  run_together(2, [&](Processes& processes) {
    TrainingObserver observer = {.on_update = [&](const UpdateReport&) { ++reports; }};
    if (!processes.first()) observer.stop_requested = [] { return true; };
    try {
      dragoman::internal::Run(recipe_, {.folder = folder_.path("run")}, processes, observer).train();
    } catch (const Stopped& error) {
      EXPECT_EQ(std::string(error.what()).empty(), !processes.first());
      ++stopped;
    }
  });
  EXPECT_EQ(stopped, 2);
  EXPECT_EQ(reports, 1);
  EXPECT_EQ(checkpoints("run").newest().value().step, 1);
}

}  // namespace
}  // namespace dragoman::internal
