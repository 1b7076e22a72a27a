// What a run finds in its folder: nothing, its own checkpoints, or what it must not touch.
#include <algorithm>
#include <filesystem>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "train/run_checks.h"
#include "train/run_model.h"
#include "train/whole_run.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

class RunFolder : public WholeRun {
 protected:
  RunFolder() {
    recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 1};
    recipe_.training.max_steps = 4;
    recipe_.validation.every = 1;
    recipe_.checkpoints.every = 1;
  }

  std::string model() const { return folder_.path("run/model.safetensors"); }
};

TEST_F(RunFolder, AModelWithoutACompleteCheckpointIsNotOverwritten) {
  train("run");
  const std::string before = read_file(model()), history = read_file(folder_.path("run/metrics.jsonl"));
  for (const auto& found : Checkpoints(folder_.path("run/checkpoints"), 9).list()) {
    const std::string path = found.path + "/state.json";
    std::string state = read_file(path);
    state.back() ^= 1;  // of the same size: only the checksum tells
    write_file(path, {state});
  }
  EXPECT_THROW(train("run"), UsageError);
  fs::remove_all(folder_.path("run/checkpoints"));
  EXPECT_THROW(train("run"), UsageError);
  fs::remove(folder_.path("run/config.json"));
  EXPECT_THROW(train("run"), UsageError);
  EXPECT_FALSE(fs::exists(folder_.path("run/config.json")));
  EXPECT_EQ(read_file(model()), before);
  EXPECT_EQ(read_file(folder_.path("run/metrics.jsonl")), history);
}

TEST_F(RunFolder, AFolderInWhichNothingWasWrittenIsRemovedIfTheRunMadeIt) {
  recipe_.data = {.source = {folder_.path("missing.en")}, .target = {folder_.path("missing.fr")}};
  EXPECT_THROW(train("run"), Error);
  EXPECT_FALSE(fs::exists(folder_.path("run")));
  fs::create_directory(folder_.path("run"));
  EXPECT_THROW(train("run"), Error);
  EXPECT_TRUE(fs::exists(folder_.path("run")));
}

TEST_F(RunFolder, AResumedRunNeedsTheModelThatItBeganWithNoMore) {
  train("general");
  const auto fine_tuned = [&] {
    Recipe recipe = {.data = recipe_.data, .training = recipe_.training};
    Options options;
    declare(options, recipe);
    const RunOptions run = {.folder = folder_.path("fine"), .init_from = folder_.path("general")};
    take_model(options, run);
    dragoman::internal::Run(recipe, run).train();
    return recipe.model.d_model;
  };
  EXPECT_EQ(fine_tuned(), recipe_.model.d_model);
  fs::remove_all(folder_.path("general"));
  recipe_.training.max_steps = 6;
  EXPECT_EQ(fine_tuned(), recipe_.model.d_model);
}

// A resumed run keeps the sample of its text, or the lack of it.
TEST_F(RunFolder, ASampleThatWasRemovedStaysAway) {
  learn_from_text(200);
  train("run");
  const std::string sample = folder_.path("run/sample.tsv");
  ASSERT_TRUE(fs::exists(sample));
  fs::remove(sample);
  recipe_.training.max_steps = 6;
  train("run");
  EXPECT_FALSE(fs::exists(sample));
}

// They change the bits. Before this option existed, batches were computed as a whole.
TEST_F(RunFolder, ARunKeepsItsPartTokens) {
  recipe_.training.part_tokens = 20;
  train("run");
  recipe_.training.part_tokens = 30;
  EXPECT_THROW(train("run"), UsageError);
  recipe_.training.part_tokens = 20;
  EXPECT_EQ(train("run").steps, 4);
  const std::string path = folder_.path("run/config.json");
  nlohmann::json config = nlohmann::json::parse(read_file(path));
  config["recipe"]["training"].erase("part_tokens");
  write_file(path, {config.dump()});
  EXPECT_THROW(train("run"), UsageError);
  recipe_.training.part_tokens = automatic_part_tokens;
  EXPECT_EQ(train("run").steps, 4);
  EXPECT_EQ(saved_value(folder_.path("run"), "training/part_tokens"), 0);
  recipe_.training.part_tokens = 0;
  EXPECT_EQ(train("run").steps, 4);
}

TEST_F(RunFolder, ARunGoesOnOnAnotherDevice) {
  recipe_.training.device = "cpu";
  train("run");
  EXPECT_EQ(saved_value(folder_.path("run"), "training/device"), "cpu");
  recipe_.training.device = "auto";
  EXPECT_EQ(train("run").steps, 4);
  EXPECT_EQ(saved_value(folder_.path("run"), "training/device"), "auto");
  recipe_.training.device = "cpu";
  recipe_.training.precision = TrainingPrecision::tf32;
  EXPECT_THROW(train("new"), UsageError) << "only GPUs have it";
}

TEST_F(RunFolder, ARunThatWasSavedUnderFormerNamesGoesOn) {
  recipe_.training.heartbeat_timeout = 20;
  train("run");
  const std::string path = folder_.path("run/config.json");
  nlohmann::json config = nlohmann::json::parse(read_file(path));
  nlohmann::json& training = config["recipe"]["training"];
  training["longest_silence"] = training["heartbeat_timeout"];
  training.erase("heartbeat_timeout");
  training["an_option_of_another_version"] = 1;
  write_file(path, {config.dump()});
  recipe_.training.max_steps = 5;
  EXPECT_EQ(train("run").steps, 5);
  recipe_.training.heartbeat_timeout = 30;  // may change
  EXPECT_EQ(train("run").steps, 5);
  recipe_.training.warmup = 3;
  try {
    train("run");
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("holds a run with training.warmup = 4000, not 3"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(RunFolder, IsLockedByItsRun) {
  {
    dragoman::internal::Run one(recipe_, {.folder = folder_.path("run")});
    EXPECT_THROW(train("run"), Error);
    one.train();
  }
  EXPECT_EQ(train("run").steps, 4);
}

// Shapes alone do not tell the number of heads, nor does a configuration that somebody has edited.
TEST_F(RunFolder, ACheckpointOfAnotherModelIsRefused) {
  recipe_.training.max_steps = 3;
  train("run");
  const std::string path = folder_.path("run/config.json");
  nlohmann::json config = nlohmann::json::parse(read_file(path));
  config["model"]["heads"] = config["recipe"]["model"]["heads"] = 4;
  write_file(path, {config.dump()});
  recipe_.model.heads = 4;
  recipe_.training.max_steps = 4;
  try {
    train("run");
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("is of a model with model.heads = 2, not 4"), std::string::npos)
        << error.what();
  }
}

// The vocabulary is the same, and so would be each batch's size: only the bits would differ.
TEST_F(RunFolder, AReorderedCorpusIsRefused) {
  const auto reverse = [](std::vector<std::string> lines) {
    std::ranges::reverse(lines);
    return fmt::format("{}\n", fmt::join(lines, "\n"));
  };
  const ToyText text = toy_text(100);
  learn_from_text(100);
  recipe_.training.max_steps = 2;
  train("vocabulary");
  recipe_.vocabulary.from = folder_.path("vocabulary");
  train("run");
  const std::string before = read_file(model());
  folder_.write("toy.source", reverse(text.source_lines));
  folder_.write("toy.target", reverse(text.target_lines));
  recipe_.training.max_steps = 4;
  try {
    train("run");
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("the corpus has changed since"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(read_file(model()), before);
  folder_.write("toy.source", text.source);  // with another time of modification
  folder_.write("toy.target", text.target);
  EXPECT_EQ(train("run").steps, 4);
}

TEST_F(RunFolder, ADamagedCheckpointIsNoReasonToGiveUp) {
  train("whole");
  recipe_.training.max_steps = 3;
  train("run");
  const std::string newest = Checkpoints(folder_.path("run/checkpoints"), 9).newest()->path;
  std::string contents = read_file(newest + "/optimizer.safetensors");
  contents.back() ^= 64;
  write_file(newest + "/optimizer.safetensors", {contents});
  recipe_.training.max_steps = 4;
  EXPECT_EQ(train("run").steps, 4);
  EXPECT_EQ(read_file(model()), read_file(folder_.path("whole/model.safetensors")));
  fs::remove(model());
  for (const auto& found : Checkpoints(folder_.path("run/checkpoints"), 9).list())
    write_file(found.path + "/state.json", {std::string(fs::file_size(found.path + "/state.json"), ' ')});
  EXPECT_THROW(train("run"), UsageError)
      << "a run does not start over beside checkpoints that somebody may rescue";
}

// Its best step was another, so the file is an earlier or a later one than the end of the run would have.
TEST_F(RunFolder, AModelOfAnotherStepIsNotTakenForTheBest) {
  recipe_.checkpoints.keep = 1;
  recipe_.training.schedule = Schedule::constant;
  recipe_.training.learning_rate = 1e-30;
  train("run");
  EXPECT_EQ(read_run_model(folder_.path("run")).step, "1") << "without learning the first one stays the best";
  const std::string best = read_file(model());
  fs::remove_all(folder_.path("run/checkpoints/step-00000001"));
  EXPECT_EQ(train("run").steps, 4);
  fs::copy_file(folder_.path("run/checkpoints/step-00000004/model.safetensors"), model(),
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(train("run").steps, 4) << "an earlier version did not say the step";
  std::string other = best;
  other.replace(other.find("\"step\":\"1\""), 10, "\"step\":\"3\"");
  write_file(model(), {other});
  EXPECT_THROW(train("run"), Error);
}

TEST_F(RunFolder, AMissingOrOldModelIsRestoredFromTheBestCheckpoint) {
  recipe_.checkpoints.keep = 4;
  train("run");
  const std::string best = read_file(model());
  fs::remove(model());
  train("run");
  EXPECT_EQ(read_file(model()), best);
  recipe_.training.max_steps = 1;
  train("short");
  fs::copy_file(folder_.path("short/model.safetensors"), model(), fs::copy_options::overwrite_existing);
  ASSERT_NE(read_file(model()), best);
  recipe_.training.max_steps = 4;
  train("run");
  EXPECT_EQ(read_file(model()), best);
}

}  // namespace
}  // namespace dragoman::internal
