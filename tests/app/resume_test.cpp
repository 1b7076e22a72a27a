// Training that is killed at any instant, stopped, or refused by the disk: it goes on to the same bits.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/random.h"
#include "train/checkpoints.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

class ResumeTest : public testing::Test {
 protected:
  ResumeTest() : folder_(fs::temp_directory_path() / ("dragoman-resume-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~ResumeTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // Starts `dragoman train` on a task that has everything a state can hold: updates of several batches that do not
  // divide an epoch, dropout, a moving average, patience, validations in the middle.
  pid_t start(const std::string& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {DRAGOMAN_PROGRAM, "train", recipe_, "--out", path(out)};
    for (const char* flag :
         {"--model.d_model=32", "--model.heads=2", "--model.d_ff=64", "--model.encoder_layers=1",
          "--model.decoder_layers=1", "--data.batches=7", "--data.sentences=8", "--data.valid_batches=1",
          "--training.accumulate=2", "--training.max_epochs=0", "--training.max_steps=60",
          "--training.ema=0.9", "--training.threads=1", "--validation.every=9", "--validation.patience=1000",
          "--checkpoints.every=2", "--validation.metrics=loss", "--validation.samples=0"}) {
      words.push_back(flag);
    }
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child != 0) return child;
    const int log = open(path("log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }

  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // The files of the newest checkpoint, and the model's.
  std::vector<std::string> results(const std::string& out) const {
    const auto newest = Checkpoints(path(out) + "/checkpoints", 3).newest();
    EXPECT_TRUE(newest.has_value());
    if (!newest) return {};
    EXPECT_EQ(newest->step, 60);
    return {read_file(newest->path + "/model.safetensors"),
            read_file(newest->path + "/optimizer.safetensors"), read_file(path(out) + "/model.safetensors")};
  }

  // The history without what clocks had to say.
  std::vector<nlohmann::json> history(const std::string& out) const {
    std::vector<nlohmann::json> events;
    std::istringstream lines(read_file(path(out) + "/metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      nlohmann::json event = nlohmann::json::parse(line);
      if (event.at("event") == "resume") continue;
      for (const char* clock : {"time", "seconds", "tokens_per_second", "target_tokens_per_second"})
        event.erase(clock);
      events.push_back(event);
    }
    return events;
  }

  // Text instead of symbols, cut into other subwords in each epoch, and products in bf16.
  void learn_from_text() {
    recipe_ = path("text.toml");
    write_file(recipe_,
               {"[data]\ntsv = [\"" DRAGOMAN_SOURCE_DIR "/data/tatoeba-en-fr/train.tsv.zst\"]\n"
                "limit = 300\nhold_out = 20\n[vocabulary]\nsize = 300\nshared = true\nsampling = 0.2\n"
                "[training]\nbatch_tokens = 150\nprecision = \"bf16\"\n"});
  }

  void kill(int times);

  fs::path folder_;
  std::string recipe_ = DRAGOMAN_SOURCE_DIR "/recipes/copy.toml";
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

TEST_F(ResumeTest, KilledAtRandomInstantsItEndsWithTheBitsOfAnUndisturbedRun) { kill(12); }

TEST_F(ResumeTest, SoItDoesOnTextWhoseSubwordsAreDrawnAnew) {
  learn_from_text();
  kill(5);
}

// The last step has its checkpoint, but not yet its validation, which is of many sentences here.
TEST_F(ResumeTest, KilledBeforeTheLastValidationItMakesUpForIt) {
  const std::vector<std::string> slow = {"--data.valid_batches=400", "--validation.every=1000"};
  ASSERT_EQ(wait_for(start("whole", slow)), 0) << read_file(path("log"));
  const pid_t child = start("killed", slow);
  const Checkpoints checkpoints(path("killed") + "/checkpoints", 3);
  for (auto found = checkpoints.list(); found.empty() || found.back().step != 60; found = checkpoints.list())
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  ::kill(child, SIGKILL);
  ASSERT_EQ(wait_for(child), 128 + SIGKILL);
  ASSERT_EQ(history("killed").back().at("event"), "train") << "the kill came too late";
  ASSERT_EQ(wait_for(start("killed", slow)), 0) << read_file(path("log"));
  EXPECT_EQ(results("killed"), results("whole"));
  EXPECT_EQ(history("killed"), history("whole"));
}

TEST_F(ResumeTest, SignalsStopItAfterTheStepAndItGoesOn) {
  ASSERT_EQ(wait_for(start("whole")), 0) << read_file(path("log"));
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t child = start("stopped");
    while (!fs::exists(path("stopped") + "/metrics.jsonl"))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ::kill(child, signal);
    EXPECT_EQ(wait_for(child), 128 + signal) << read_file(path("log"));
  }
  ASSERT_EQ(wait_for(start("stopped")), 0) << read_file(path("log"));
  EXPECT_EQ(results("stopped"), results("whole"));
  EXPECT_EQ(history("stopped"), history("whole"));
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

// A limit of the size of files stands for a full disk: small ones can be written, weights can not.
TEST_F(ResumeTest, OnAFullDiskItSaysSoAndGoesOn) {
  const rlimit limit = {.rlim_cur = 20'000, .rlim_max = RLIM_INFINITY};
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  const pid_t child = start("full", {"--training.max_steps=6"});
  std::signal(SIGXFSZ, ignored);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(wait_for(child), 1);
  const std::string log = read_file(path("log"));
  EXPECT_NE(log.find("could not be written"), std::string::npos) << log;
  EXPECT_NE(log.find("has no model"), std::string::npos) << log;
  EXPECT_TRUE(Checkpoints(path("full") + "/checkpoints", 3).list().empty());
  EXPECT_FALSE(fs::exists(path("full") + "/model.safetensors"));
  ASSERT_EQ(wait_for(start("full", {"--training.max_steps=6"})), 0) << read_file(path("log"));
  EXPECT_TRUE(fs::exists(path("full") + "/model.safetensors"));
}

TEST_F(ResumeTest, WhereNoCheckpointCanBeWrittenItSaysSoAndGoesOn) {
  fs::create_directories(path("full"));
  write_file(path("full") + "/checkpoints", {"a file where a folder should be"});
  EXPECT_EQ(wait_for(start("full")), 0);
  EXPECT_NE(read_file(path("log")).find("could not be written"), std::string::npos);
  EXPECT_TRUE(fs::exists(path("full") + "/model.safetensors"));
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

TEST_F(ResumeTest, ADivergenceIsSaidAndLeavesOnlyNumbers) {
  EXPECT_EQ(wait_for(start("wild", {"--training.schedule=constant", "--training.learning_rate=1e30"})), 1);
  const std::string log = read_file(path("log"));
  EXPECT_NE(log.find("skipped"), std::string::npos) << log;
  EXPECT_NE(log.find("back to step 0"), std::string::npos) << log;
  EXPECT_NE(log.find("training diverges again and again"), std::string::npos) << log;
  EXPECT_NE(log.find("has a gradient of"), std::string::npos) << log;
  if (!fs::exists(path("wild") + "/model.safetensors")) return;
  const auto model = SafetensorsFile::open(path("wild") + "/model.safetensors");
  for (const TensorEntry& entry : model.entries()) {
    const auto* values = reinterpret_cast<const float*>(entry.bytes.data());
    EXPECT_TRUE(std::all_of(values, values + entry.bytes.size() / sizeof(float), [](float v) {
      return std::isfinite(v);
    })) << entry.name;
  }
}

}  // namespace
}  // namespace dragoman
