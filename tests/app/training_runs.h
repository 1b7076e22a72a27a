// Runs of `dragoman train` in processes of their own, small enough to be killed and compared many times.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "train/checkpoints.h"

namespace dragoman::internal {

class TrainingRuns : public testing::Test {
 protected:
  TrainingRuns() { std::filesystem::create_directories(folder_); }
  ~TrainingRuns() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // Starts `dragoman train` on a task that has everything a state can hold: updates of several batches that do not
  // divide an epoch, dropout, a moving average, patience, validations in the middle.
  pid_t start(const std::string& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = launcher_;
    words.insert(words.end(), {DRAGOMAN_PROGRAM, "train", recipe_, "--out", path(out)});
    for (const char* flag : {"--model.d_model=32",
                             "--model.heads=2",
                             "--model.d_ff=64",
                             "--model.encoder_layers=1",
                             "--model.decoder_layers=1",
                             "--data.batches=7",
                             "--data.sentences=8",
                             "--data.valid_batches=1",
                             "--training.accumulate=2",
                             "--training.max_epochs=0",
                             "--training.max_steps=60",
                             "--training.schedule=noam",
                             "--training.warmup=400",
                             "--training.ema=0.9",
                             "--training.threads=1",
                             "--validation.every=9",
                             "--validation.patience=1000",
                             "--checkpoints.every=2",
                             "--validation.metrics=loss",
                             "--validation.samples=0"}) {
      words.push_back(flag);
    }
    words.insert(words.end(), more.begin(), more.end());
    return start_program(std::move(words));
  }

  pid_t start_program(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child != 0) return child;
    std::signal(SIGHUP, SIG_DFL);  // nohup, under which the tests may run, ignores it
    const int log = open(path("log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }

  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // For a run of any length, so that a signal comes before its end however slow the machine is.
  static std::string steps(int64_t count) { return "--training.max_steps=" + std::to_string(count); }
  const std::string endless_ = steps(0);

  // Sends it once the run has validated from now on: then all of its processes train. What it then exits with.
  int stop(pid_t launcher, pid_t process, const std::string& out, int signal) const {
    const std::string metrics = path(out) + "/metrics.jsonl";
    const auto last_validation = [&] {
      return std::filesystem::exists(metrics) ? read_file(metrics).rfind("\"validation\"")
                                              : std::string::npos;
    };
    const size_t before = last_validation();
    while (last_validation() == before && waitpid(launcher, nullptr, WNOHANG) == 0) usleep(1000);
    ::kill(process, signal);
    return wait_for(launcher);
  }

  int64_t newest_step(const std::string& out) const {
    const auto newest = Checkpoints(path(out) + "/checkpoints", 3).newest();
    EXPECT_TRUE(newest.has_value());
    return newest ? newest->step : -1;
  }

  // The files of the newest checkpoint, and the model's.
  std::vector<std::string> results(const std::string& out, int64_t step = 60) const {
    const auto newest = Checkpoints(path(out) + "/checkpoints", 3).newest();
    EXPECT_TRUE(newest.has_value());
    if (!newest) return {};
    EXPECT_EQ(newest->step, step);
    return {read_file(newest->path + "/model.safetensors"),
            read_file(newest->path + "/optimizer.safetensors"), read_file(path(out) + "/model.safetensors")};
  }

  // The history without what clocks had to say, and what share of a run's limit was done, which differs between runs.
  std::vector<nlohmann::json> history(const std::string& out) const {
    std::vector<nlohmann::json> events;
    std::istringstream lines(read_file(path(out) + "/metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      nlohmann::json event = nlohmann::json::parse(line);
      if (event.at("event") == "resume") continue;
      for (const char* clock :
           {"time", "seconds", "tokens_per_second", "target_tokens_per_second", "waiting", "done"})
        event.erase(clock);
      events.push_back(event);
    }
    return events;
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / "runs";
  std::string recipe_ = DRAGOMAN_SOURCE_DIR "/recipes/copy.toml";
  std::vector<std::string> launcher_;  // what starts the program, if anything
};

}  // namespace dragoman::internal
