// Training that is killed at any instant, stopped, or that finds the disk full: it resumes and ends with the same bits.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <thread>

#include <nlohmann/json.hpp>

#include "app/training_runs.h"
#include "base/random.h"
#include "train/recipe.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

class ResumeTest : public TrainingRuns {
 protected:
  // Text instead of symbols, with subword sampling, products in bf16, and matrices moved by Muon.
  void learn_from_text() {
    recipe_ = path("text.toml");
    write_file(recipe_,
               {"[data]\ntsv = [\"" DRAGOMAN_SOURCE_DIR "/data/tatoeba-en-fr/train.tsv.zst\"]\n"
                "limit = 300\nhold_out = 20\n[vocabulary]\nsize = 300\nshared = true\nsampling = 0.2\n"
                "[training]\nbatch_tokens = 150\nprecision = \"bf16\"\noptimizer = \"muon\"\n"});
  }

  void kill(int times);

  // Starts a run that can write no file of more than `bytes`.
  pid_t start_with_limit(rlim_t bytes, const std::string& out, const std::vector<std::string>& more) {
    rlimit before = {};
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit limit = {.rlim_cur = bytes, .rlim_max = before.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const pid_t child = start(out, more);
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    return child;
  }
};

void ResumeTest::kill(int times) {
  ASSERT_EQ(wait_for(start("whole")), 0) << read_file(path("log"));
  Random random(20);
  int kills = 0, code = -1;
  while (code != 0 && kills < 200) {
    const pid_t child = start("killed");
    if (kills < times) {
      std::this_thread::sleep_for(std::chrono::microseconds(5000 + random.below(120000)));
      ::kill(child, SIGKILL);
    }
    code = wait_for(child);
    ASSERT_TRUE(code == 0 || code == 128 + SIGKILL) << read_file(path("log"));
    ++kills;
  }
  EXPECT_EQ(results("killed"), results("whole"));
  EXPECT_EQ(history("killed"), history("whole"));
}

TEST_F(ResumeTest, KilledAtRandomInstantsItEndsWithTheSameBits) { kill(12); }

TEST_F(ResumeTest, SoItDoesOnTextWithSubwordSampling) {
  learn_from_text();
  kill(5);
}

// The last step has its checkpoint, but not yet its validation, which is slow here.
TEST_F(ResumeTest, KilledBeforeTheLastValidationItStillValidates) {
  const std::vector<std::string> slow = {"--data.valid_batches=400", "--validation.every=1000"};
  ASSERT_EQ(wait_for(start("whole", slow)), 0) << read_file(path("log"));
  const pid_t child = start("killed", slow);
  const Checkpoints checkpoints(path("killed") + "/checkpoints", 3);
  for (auto found = checkpoints.list(); found.empty() || found.back().step != 60; found = checkpoints.list())
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  ::kill(child, SIGKILL);
  ASSERT_EQ(wait_for(child), 128 + SIGKILL);
  ASSERT_EQ(history("killed").back().at("event"), "epoch") << "the kill came too late";
  ASSERT_EQ(wait_for(start("killed", slow)), 0) << read_file(path("log"));
  EXPECT_EQ(results("killed"), results("whole"));
  EXPECT_EQ(history("killed"), history("whole"));
}

// So that the same command can resume, and need not refuse to overwrite a model.
TEST_F(ResumeTest, TheFirstModelHasACheckpointBesideIt) {
  const pid_t child = start("killed", {"--training.max_steps=0", "--checkpoints.every=1000000"});
  while (!fs::exists(path("killed") + "/model.safetensors"))
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  ::kill(child, SIGKILL);
  ASSERT_EQ(wait_for(child), 128 + SIGKILL);
  EXPECT_EQ(Checkpoints(path("killed") + "/checkpoints", 3).list().size(), 1u);
}

TEST_F(ResumeTest, SignalsStopItAfterTheStepAndItResumes) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = start("stopped", {endless_});
    EXPECT_EQ(stop(child, child, "stopped", signal), 128 + signal) << read_file(path("log"));
  }
  const int64_t end = newest_step("stopped") + 20;
  ASSERT_EQ(wait_for(start("stopped", {steps(end)})), 0) << read_file(path("log"));
  ASSERT_EQ(wait_for(start("whole", {steps(end)})), 0) << read_file(path("log"));
  EXPECT_EQ(results("stopped", end), results("whole", end));
  EXPECT_EQ(history("stopped"), history("whole"));
}

// The checkpoint of a signal is only for resuming, and no part of the average.
TEST_F(ResumeTest, TheAverageIsOfTheCheckpointsThatAnUninterruptedRunHas) {
  std::vector<std::string> averaging = {"--training.average_last=3", "--checkpoints.every=20", endless_};
  const pid_t child = start("stopped", averaging);
  const Checkpoints checkpoints(path("stopped") + "/checkpoints", 3);
  while (checkpoints.list().size() < 2) std::this_thread::sleep_for(std::chrono::microseconds(200));
  ::kill(child, SIGINT);
  EXPECT_EQ(wait_for(child), 128 + SIGINT) << read_file(path("log"));
  const int64_t stopped = newest_step("stopped"), end = stopped + 10;
  averaging.back() = steps(end);
  ASSERT_EQ(wait_for(start("stopped", averaging)), 0) << read_file(path("log"));
  ASSERT_EQ(wait_for(start("whole", averaging)), 0) << read_file(path("log"));
  EXPECT_EQ(results("stopped", end), results("whole", end)) << "stopped at step " << stopped;
}

TEST_F(ResumeTest, ASecondInterruptEndsItAtOnce) {
  // An update of a hundred thousand batches: the first signal waits for its end.
  const pid_t child = start("stopped", {"--training.accumulate=100000", "--data.batches=100000"});
  while (!fs::exists(path("stopped") + "/config.json"))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(child, SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0);
  ::kill(child, SIGINT);
  EXPECT_EQ(wait_for(child), 128 + SIGINT);
  EXPECT_FALSE(fs::exists(path("stopped") + "/model.safetensors"));
}

// A limit on the size of files stands for a full disk: small files can be written, weights cannot; or they can, but no
// whole checkpoint. With room again the run starts anew.
TEST_F(ResumeTest, OnAFullDiskItWarnsAndContinuesAndEndsWithAnError) {
  const std::vector<std::string> few = {steps(6), "--validation.every=4"};
  ASSERT_EQ(wait_for(start("whole", few)), 0) << read_file(path("log"));
  for (const rlim_t largest : {20'000, 120'000}) {
    const std::string out = std::to_string(largest);
    fs::remove(path("log"));
    const pid_t child = start_with_limit(largest, out, few);
    EXPECT_EQ(wait_for(child), 1);
    const std::string log = read_file(path("log"));
    EXPECT_NE(log.find("could not be written"), std::string::npos) << log;
    EXPECT_NE(log.find("File too large; make room or repair the disk, and run the same command to resume"),
              std::string::npos)
        << log;
    EXPECT_TRUE(Checkpoints(path(out) + "/checkpoints", 3).list().empty());
    EXPECT_EQ(fs::exists(path(out) + "/model.safetensors"), largest > 100'000);
    EXPECT_NE(history(out).back().at("event"), "end");
    ASSERT_EQ(wait_for(start(out, few)), 0) << read_file(path("log"));
    EXPECT_EQ(results(out, 6), results("whole", 6));
  }
}

// What is lost is repeated: with the same bits.
TEST_F(ResumeTest, ADiskThatFillsUpMeanwhileLosesOnlyTime) {
  ASSERT_EQ(wait_for(start("whole")), 0) << read_file(path("log"));
  ASSERT_EQ(wait_for(start("full", {steps(31)})), 0) << read_file(path("log"));
  for (const rlim_t largest : {20'000, 120'000})
    ASSERT_EQ(wait_for(start_with_limit(largest, "full", {steps(60)})), 1) << read_file(path("log"));
  EXPECT_EQ(newest_step("full"), 31);
  ASSERT_EQ(wait_for(start("full")), 0) << read_file(path("log"));
  EXPECT_EQ(results("full"), results("whole"));
}

// An average needs all of its checkpoints.
TEST_F(ResumeTest, WithoutACheckpointThatTheAverageNeedsItStops) {
  const pid_t child = start_with_limit(120'000, "full", {"--training.average_last=2"});
  ASSERT_EQ(wait_for(child), 1);
  EXPECT_NE(read_file(path("log")).find("the checkpoint of step 2 could not be written"), std::string::npos);
  EXPECT_FALSE(fs::exists(path("full") + "/model.safetensors"));
}

TEST_F(ResumeTest, WithoutCheckpointsItContinuesAndEndsWithTheModelAndAnError) {
  ASSERT_EQ(wait_for(start("whole")), 0) << read_file(path("log"));
  fs::create_directories(path("full"));
  fs::create_symlink("nowhere", path("full") + "/checkpoints");
  EXPECT_EQ(wait_for(start("full")), 1);
  EXPECT_NE(read_file(path("log")).find("could not be written"), std::string::npos);
  EXPECT_TRUE(fs::exists(path("full") + "/model.safetensors"));
  fs::remove(path("full") + "/checkpoints");
  ASSERT_EQ(wait_for(start("full")), 0) << read_file(path("log"));
  EXPECT_EQ(results("full"), results("whole"));
}

TEST_F(ResumeTest, AnotherConfigurationIsAnErrorThatNamesTheKeyAndChangesNothing) {
  ASSERT_EQ(wait_for(start("run", {"--training.max_steps=4"})), 0) << read_file(path("log"));
  const std::string before = read_file(path("run") + "/config.json");
  EXPECT_EQ(wait_for(start("run", {"--model.d_ff=128"})), 2);
  EXPECT_NE(read_file(path("log")).find("model.d_ff"), std::string::npos);
  EXPECT_EQ(wait_for(start("run", {"--resume=never"})), 2);
  EXPECT_EQ(wait_for(start("nothing", {"--resume=require"})), 2);
  EXPECT_EQ(read_file(path("run") + "/config.json"), before);
}

TEST_F(ResumeTest, TheConfigurationSaysWhatTheRecipeAndTheFlagsSet) {
  const std::string as_by_default = "--training.seed=" + std::to_string(Recipe().training.seed);
  ASSERT_EQ(wait_for(start("run", {steps(2), as_by_default})), 0) << read_file(path("log"));
  const auto given = nlohmann::json::parse(read_file(path("run") + "/config.json")).at("given");
  const auto has = [&](const char* key) { return std::ranges::find(given, key) != given.end(); };
  for (const char* key : {"data.synthetic", "model.d_model", "training.max_steps", "training.seed"})
    EXPECT_TRUE(has(key)) << key;
  for (const char* key : {"out", "model.norm_eps", "training.clip_norm"}) EXPECT_FALSE(has(key)) << key;
}

TEST_F(ResumeTest, ADivergenceIsReported) {
  EXPECT_EQ(wait_for(start("wild", {"--training.schedule=constant", "--training.learning_rate=1e30"})), 1);
  const std::string log = read_file(path("log"));
  EXPECT_NE(log.find("skipped"), std::string::npos) << log;
  EXPECT_NE(log.find("rolled back to step 0"), std::string::npos) << log;
  EXPECT_NE(log.find("training keeps diverging"), std::string::npos) << log;
  EXPECT_NE(log.find("has a weight of"), std::string::npos) << log;
}

// A run that has a model, and diverges because its configuration is changed to another learning rate.
TEST_F(ResumeTest, ADivergenceLeavesTheModelUnchangedAndFinite) {
  const std::vector<std::string> begin = {"--training.schedule=constant", "--training.learning_rate=0.001",
                                          "--training.max_steps=4", "--validation.every=1"};
  ASSERT_EQ(wait_for(start("wild", begin)), 0) << read_file(path("log"));
  auto config = nlohmann::json::parse(read_file(path("wild") + "/config.json"));
  config["recipe"]["training"]["learning_rate"] = 1e30;
  const std::string before = read_file(path("wild") + "/model.safetensors");
  write_file(path("wild") + "/config.json", {config.dump()});
  EXPECT_EQ(wait_for(start("wild", {"--training.schedule=constant", "--training.learning_rate=1e30",
                                    "--validation.every=1"})),
            1);
  const std::string log = read_file(path("log"));
  EXPECT_NE(log.find("rolled back to step 4"), std::string::npos) << log;
  EXPECT_EQ(read_file(path("wild") + "/model.safetensors"), before);
  const auto model = SafetensorsFile::open(path("wild") + "/model.safetensors");
  for (const TensorEntry& entry : model.entries()) {
    const auto* values = reinterpret_cast<const float*>(entry.bytes.data());
    EXPECT_TRUE(std::all_of(values, values + entry.bytes.size() / sizeof(float), [](float v) {
      return std::isfinite(v);
    })) << entry.name;
  }
}

}  // namespace
}  // namespace dragoman::internal
