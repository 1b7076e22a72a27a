// Whole runs in this process.
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "base/build.h"
#include "base/files.h"
#include "kernels/fastest.h"
#include "model/folder.h"
#include "model/weights.h"
#include "parallel/thread_processes.h"
#include "testing.h"
#include "train/metrics_log.h"
#include "train/whole_run.h"

namespace dragoman::internal {
namespace {

// The end of an epoch ends an update: both runs make one update per epoch, of the same pairs in another order.
TEST_F(WholeRun, ManySmallBatchesAccumulatedAreOneLargeBatch) {
  learn_from_text(100);
  recipe_.training.max_steps = 4;
  recipe_.training.warmup = 1;
  recipe_.training.factor = 0.1;
  recipe_.training.batch_tokens = 50;
  recipe_.training.accumulate = 1000;
  const History small = train("small");
  recipe_.training.batch_tokens = 1'000'000;
  recipe_.training.accumulate = 1;
  const History large = train("large");
  for (const char* name : {"loss", "gradient_norm"}) {
    const std::vector<double>&a = *small.train.column(name), &b = *large.train.column(name);
    ASSERT_EQ(a.size(), 4u);
    ASSERT_EQ(b.size(), 4u);
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(a[i], b[i], 1e-5 * b[i]) << name << " of update " << i + 1;
  }
  EXPECT_GT((*large.train.column("loss"))[0], 1.01 * (*large.train.column("loss"))[3])
      << "the model learnt nothing";
}

// With 7 batches in pairs the fourth update ends the epoch, and the last validation comes after that.
TEST_F(WholeRun, ATrainingLossIsOfTheUpdatesSinceTheLastValidation) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 0};
  recipe_.training.accumulate = 2;
  recipe_.training.max_steps = 4;
  for (const size_t first : {0, 2}) {  // of the updates that the last validation is about
    recipe_.validation.every = first == 0 ? 100 : 2;
    const std::string name = fmt::format("from-{}", first);
    set_log_level(LogLevel::info);
    testing::internal::CaptureStderr();
    const History history = train(name);
    const std::string log = testing::internal::GetCapturedStderr();
    double sum = 0, batches = 0;
    for (size_t i = first; i < 4; ++i) {
      const double in_update = i == 3 ? 1 : 2;
      sum += in_update * std::log((*history.train.column("perplexity"))[i]);
      batches += in_update;
    }
    EXPECT_NE(log.find(fmt::format("training loss {:.4f}", sum / batches)), std::string::npos) << log;
    EXPECT_TRUE(std::filesystem::exists(folder_.path(name) + "/model.safetensors"));
  }
}

// Of 7 batches in pairs the last one is alone; all have as many tokens.
TEST_F(WholeRun, AnEpochsLossIsOfAllItsUpdates) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 1};
  recipe_.training.accumulate = 2;
  recipe_.training.max_epochs = 2;
  recipe_.validation.every = 3;
  set_log_level(LogLevel::info);
  testing::internal::CaptureStderr();
  const History history = train("run");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(history.epochs.steps, (std::vector<int64_t>{4, 8}));
  EXPECT_EQ(*history.epochs.column("epoch"), (std::vector<double>{1, 2}));
  for (size_t epoch : {0, 1}) {
    double smoothed = 0, unsmoothed = 0;
    for (size_t i = 0; i < 4; ++i) {
      const double share = (i == 3 ? 1.0 : 2.0) / 7;
      smoothed += share * (*history.train.column("loss"))[4 * epoch + i];
      unsmoothed += share * std::log((*history.train.column("perplexity"))[4 * epoch + i]);
    }
    EXPECT_NEAR((*history.epochs.column("loss"))[epoch], smoothed, 1e-9);
    EXPECT_NEAR(std::log((*history.epochs.column("perplexity"))[epoch]), unsmoothed, 1e-9);
    EXPECT_NE(log.find(fmt::format("training loss {:.4f} over the epoch", unsmoothed)), std::string::npos)
        << log;
  }
}

TEST_F(WholeRun, TheConfigurationRecordsWhatMadeIt) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 1};
  recipe_.training.max_steps = 1;
  recipe_.training.device = "cpu";
  train("run");
  const nlohmann::json made_by = {{"build", build_name()},
                                  {"instruction_set", kernels_for(std::getenv("DRAGOMAN_ISA")).name},
                                  {"processes", 1}};
  EXPECT_EQ(read_config(folder_.path("run")).at("made_by"), made_by);
}

// Every 61st is looked at: two here.
TEST_F(WholeRun, TheConfigurationSaysHowManySourcesHaveSeveralSentences) {
  recipe_.data = toy_data(folder_, toy_text_of_sentences(100, 50));
  recipe_.data.valid_source = recipe_.data.source;
  recipe_.data.valid_target = recipe_.data.target;
  recipe_.vocabulary = toy_vocabulary();
  recipe_.training.max_steps = 1;
  train("run");
  EXPECT_EQ(read_config(folder_.path("run")).at("/data/several_sentences"_json_pointer), 0.5);
}

// Minutes take the place of epochs. What has passed is known after an update, so that the first is too early.
TEST_F(WholeRun, ValidatesWhenMinutesHavePassed) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 3, .valid_batches = 1};
  recipe_.training.max_steps = 5;
  recipe_.validation.every_minutes = 1e-9;
  EXPECT_EQ(train("often").validation.steps, (std::vector<int64_t>{2, 3, 4, 5}));
  recipe_.validation.every_minutes = 1000;
  EXPECT_EQ(train("seldom").validation.steps, (std::vector<int64_t>{5}));
  recipe_.validation.every = 2;
  EXPECT_EQ(train("both").validation.steps, (std::vector<int64_t>{2, 4, 5}));
}

// Steps 2 and 4 are on schedule, 3 and 5 are ends; an uninterrupted run has only the latter.
TEST_F(WholeRun, AnExtendedRunHasTheAverageOfOneThatWasAsLongFromTheStart) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 1};
  recipe_.training.average_last = 3;
  recipe_.checkpoints.every = 2;
  recipe_.training.max_steps = 5;
  train("whole");
  recipe_.training.max_steps = 3;
  train("longer");
  recipe_.training.max_steps = 5;
  train("longer");
  EXPECT_EQ(read_file(folder_.path("longer/model.safetensors")),
            read_file(folder_.path("whole/model.safetensors")));
}

// The end of an epoch shows only after its last update: a signal's checkpoint in between is then on schedule after all.
TEST_F(WholeRun, ACheckpointOnScheduleReplacesAnExtraOne) {
  const Checkpoints checkpoints(folder_.path("checkpoints"), 2);
  const std::vector<CheckpointFile> none;
  const auto steps = [&] {
    std::vector<std::pair<int64_t, bool>> found;
    for (const auto& one : checkpoints.list())
      found.emplace_back(one.step, one.reason == CheckpointReason::on_schedule);
    return found;
  };
  using Steps = decltype(steps());
  for (const int64_t step : {2, 4, 6}) checkpoints.save(step, {}, none);
  checkpoints.save(7, {}, none, CheckpointReason::extra);
  checkpoints.prune();
  EXPECT_EQ(steps(), (Steps{{4, true}, {6, true}, {7, false}}));
  checkpoints.save(7, {}, none);
  EXPECT_EQ(steps(), (Steps{{4, true}, {6, true}, {7, true}}));
  checkpoints.save(9, {}, none, CheckpointReason::extra);
  checkpoints.save(10, {}, none, CheckpointReason::extra, /*best_step=*/9);
  checkpoints.prune();
  EXPECT_EQ(steps(), (Steps{{6, true}, {7, true}, {9, false}, {10, false}}));
}

// Without learning the first validation stays the best one.
TEST_F(WholeRun, PatienceStopsItAndTheBestCheckpointIsKept) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 1};
  recipe_.training.schedule = Schedule::constant;
  recipe_.training.learning_rate = 1e-30;
  recipe_.training.max_steps = 50;
  recipe_.validation.every = recipe_.checkpoints.every = 1;
  recipe_.validation.patience = 4;
  recipe_.checkpoints.keep = 2;
  const History history = train("run");
  EXPECT_EQ(history.validation.steps, (std::vector<int64_t>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(history.ended);
  std::set<std::string> checkpoints;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path("run/checkpoints")))
    checkpoints.insert(entry.path().filename().string());
  EXPECT_EQ(checkpoints, (std::set<std::string>{"step-00000001", "step-00000004", "step-00000005"}));
}

// Even if the huge losses come before there are statistics of better ones.
TEST_F(WholeRun, AnExcessiveLearningRateDiverges) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 0};
  recipe_.training.schedule = Schedule::constant;
  recipe_.training.learning_rate = 1e8;
  recipe_.training.max_steps = 50;
  EXPECT_THROW(train("run"), Error);
}

TEST_F(WholeRun, Bf16IsMultipliedAsFloatsWithAWarningIfTheProcessorLacksIt) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 1, .valid_batches = 0};
  recipe_.training.max_steps = 1;
  recipe_.training.precision = TrainingPrecision::bf16;
  set_log_level(LogLevel::info);
  for (const Kernels* kernels : every_instruction_set()) {
    setenv("DRAGOMAN_ISA", kernels->name, 1);
    testing::internal::CaptureStderr();
    EXPECT_EQ(train(kernels->name).train.column("loss")->size(), 1u);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_EQ(log.find("no fast instructions for it") == std::string::npos,
              fastest_in_bf16(*kernels).low_precision.rounded_is_fast)
        << log;
  }
  unsetenv("DRAGOMAN_ISA");
  recipe_.training.precision = TrainingPrecision::fp32;
  EXPECT_THROW(train("baseline"), UsageError) << "a run keeps its precision";
}

TEST_F(WholeRun, AnAutomaticPrecisionIsChosenOnce) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 1, .valid_batches = 0};
  recipe_.training.precision = TrainingPrecision::automatic;
  for (const int64_t steps : {1, 2}) {
    recipe_.training.max_steps = steps;
    EXPECT_EQ(train("run").train.column("loss")->size(), static_cast<size_t>(steps));
  }
  const std::string chosen = saved_value(folder_.path("run"), "training/precision");
  const bool in_bf16 = chosen == "bf16";
  EXPECT_TRUE(in_bf16 || chosen == "fp32") << chosen;
  recipe_.training.precision = in_bf16 ? TrainingPrecision::fp32 : TrainingPrecision::bf16;
  EXPECT_THROW(train("run"), UsageError);
}

TEST_F(WholeRun, AMismatchChangesNothingInTheFolder) {
  learn_from_text(100);
  recipe_.training.max_steps = 2;
  train("run");
  const auto contents = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path("run"))) {
      if (entry.is_regular_file()) files[entry.path().string()] = read_file(entry.path().string());
    }
    return files;
  };
  const auto before = contents();
  recipe_.vocabulary.size = 50;
  EXPECT_THROW(train("run"), UsageError);
  EXPECT_EQ(contents(), before);
  recipe_.vocabulary.size = 60;
  recipe_.data = toy_data(folder_, toy_text(100, 12, 2));  // the same paths
  recipe_.data.hold_out = 10;
  EXPECT_THROW(train("run"), Error);
  for (const auto& [path, text] : before) {
    if (path.starts_with(folder_.path("run/data/"))) continue;  // prepared again for the comparison
    EXPECT_EQ(read_file(path), text) << path;
  }
}

TEST_F(WholeRun, FineTuningStartsWithTheOtherModelsWeightsAndVocabulary) {
  learn_from_text(100);
  recipe_.training.max_steps = 3;
  recipe_.training.factor = 10;
  train("general");
  recipe_.data = toy_data(folder_, toy_text(50, 12, 2), "special");
  recipe_.data.hold_out = 10;
  recipe_.training.max_steps = 1;
  recipe_.training.schedule = Schedule::constant;
  recipe_.training.learning_rate = 1e-9;  // the weights do not change
  const RunOptions options = {.folder = folder_.path("fine"), .init_from = folder_.path("general")};
  recipe_.vocabulary.shared = true;
  EXPECT_THROW(dragoman::internal::Run(recipe_, options), UsageError);  // another vocabulary, and shared
  recipe_.vocabulary.from = folder_.path("general");                    // as the error says
  dragoman::internal::Run run(recipe_, options);
  run.train();
  const Parameters& parameters = run.model().parameters;
  const std::vector<float> fine = downloaded(parameters.memory(), parameters.weights());
  read_weights(folder_.path("general") + "/model.safetensors", run.model().parameters);
  const std::vector<float> general = downloaded(parameters.memory(), parameters.weights());
  for (size_t i = 0; i < fine.size(); ++i) ASSERT_NEAR(fine[i], general[i], 1e-6);
}

// The shapes of the weights are the same in each case.
TEST_F(WholeRun, FineTuningIsRefusedIfTheModelComputesSomethingElse) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 1, .valid_batches = 0};
  recipe_.training.max_steps = 1;
  train("general");
  const ModelConfig same = recipe_.model;
  const auto refused = [&](const std::string& key) {
    try {
      dragoman::internal::Run(recipe_,
                              {.folder = folder_.path("fine"), .init_from = folder_.path("general")});
    } catch (const UsageError& error) {
      return std::string(error.what()).find("model." + key + " = ") != std::string::npos;
    }
    return key.empty();
  };
  recipe_.model.heads = 4;
  EXPECT_TRUE(refused("heads"));
  recipe_.model = same;
  recipe_.model.activation = Activation::gelu;
  EXPECT_TRUE(refused("activation"));
  recipe_.model = same;
  recipe_.model.positions = Positions::tensor2tensor;
  EXPECT_TRUE(refused("positions"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("fine")));
  recipe_.model.heads = 4;
  EXPECT_TRUE(refused("heads") && refused("positions")) << "all that differs is named";
  recipe_.model = same;
  recipe_.model.decoder_heads = same.heads;  // as where it is not given
  recipe_.model.dropout = 0.3;
  recipe_.model.max_positions = 99;
  recipe_.model.initialiser = Initialiser::pytorch;
  EXPECT_TRUE(refused(""));
}

// docs/metrics.md: the keys of each event, by the event's name.
std::map<std::string, std::set<std::string>> documented_events() {
  std::map<std::string, std::set<std::string>> events;
  std::istringstream lines(read_file(DRAGOMAN_SOURCE_DIR "/docs/metrics.md"));
  std::string event;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## `")) event = line.substr(4, line.size() - 5);
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find(" | "));  // | `bleu`, `chrf`
    for (size_t begin = cell.find('`'); begin != cell.npos; begin = cell.find('`', begin)) {
      const size_t end = cell.find('`', begin + 1);
      events[event].insert(cell.substr(begin + 1, end - begin - 1));
      begin = end + 1;
    }
  }
  return events;
}

// Runs in which everything happens have the events that the page describes, with these keys and no others.
TEST_F(WholeRun, TheDocumentationOfMetricsIsComplete) {
  learn_from_text(100);
  recipe_.training.max_steps = 2;
  recipe_.validation.metrics = {"loss", "bleu", "chrf", "exact_match"};
  recipe_.validation.samples = 1;
  train("run");
  recipe_.training.max_steps = 3;
  train("run");
  run_together(2, [&](Processes& processes) {
    dragoman::internal::Run(recipe_, {.folder = folder_.path("several")}, processes).train();
  });
  recipe_.training.guided_alignment = 0.1;
  train("guided");
  recipe_.training.guided_alignment = 0;
  recipe_.training.learning_rate = 1e30;
  recipe_.training.schedule = Schedule::constant;
  recipe_.training.max_steps = 100;
  recipe_.checkpoints.every = 1;
  std::filesystem::create_directories(folder_.path("wild"));
  std::filesystem::create_symlink("nowhere", folder_.path("wild/checkpoints"));
  EXPECT_THROW(train("wild"), Error);

  auto documented = documented_events();
  const std::set<std::string> common = documented[""];
  documented.erase("");
  std::map<std::string, std::set<std::string>> events;
  for (const char* name : {"run", "several", "guided", "wild"}) {
    read_metrics(folder_.path(name) + "/metrics.jsonl", [&](const MetricsEvent& event) {
      std::set<std::string>& keys = events[event.event];
      for (const auto& [key, value] : event.values.items()) {
        if (!common.contains(key) && key != "not_finite") keys.insert(key);
      }
    });
  }
  EXPECT_EQ(events, documented);
}

}  // namespace
}  // namespace dragoman::internal
