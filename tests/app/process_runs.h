// Runs of several processes that mpirun starts.
#pragma once

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "app/training_runs.h"
#include "model/safetensors.h"

namespace dragoman::internal {

class ProcessRuns : public TrainingRuns {
 protected:
  void SetUp() override {
    if (std::string(DRAGOMAN_MPIRUN).empty()) GTEST_SKIP() << "without MPI, or under the thread sanitizer";
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    setenv("LSAN_OPTIONS", "detect_leaks=0", 1);  // MPI keeps what it has until the end
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  }

  void with_processes(int count) { launcher_ = {DRAGOMAN_MPIRUN, "-np", std::to_string(count)}; }
  void with_one() { launcher_.clear(); }

  int run(const std::string& out, const std::vector<std::string>& more = {}) {
    return wait_for(start(out, more));
  }
  std::string log() const { return read_file(path("log")); }

  // Without such a process it fails: −1 would be all processes of the machine.
  static void send(pid_t process, int signal) {
    ASSERT_GT(process, 0);
    ::kill(process, signal);
  }

  // The process of this number, once the launcher has started it.
  static pid_t process(pid_t launcher, int number) {
    const std::string id = std::to_string(launcher);
    const std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(number);
    for (int i = 0; i < 10000; ++i) {
      std::ifstream children("/proc/" + id + "/task/" + id + "/children");
      for (pid_t child; children >> child;) {
        std::ifstream file("/proc/" + std::to_string(child) + "/environ");
        const std::string environment(std::istreambuf_iterator<char>(file), {});
        if (environment.find(wanted + '\0') != std::string::npos) return child;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << "no process " << number;
    return -1;
  }

  // The same, once a new run has started to train.
  pid_t training_process(pid_t launcher, int number, const std::string& out) const {
    const pid_t child = process(launcher, number);
    for (int i = 0; i < 20000 && !std::filesystem::exists(path(out) + "/metrics.jsonl"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return child;
  }

  std::vector<float> weights(const std::string& out) const {
    const auto file = SafetensorsFile::open(path(out) + "/model.safetensors");
    std::vector<float> all;
    for (const TensorEntry& entry : file.entries()) {
      const auto* values = reinterpret_cast<const float*>(entry.bytes.data());
      all.insert(all.end(), values, values + entry.bytes.size() / sizeof(float));
    }
    return all;
  }

  void expect_near(const std::string& a, const std::string& b, float tolerance) const {
    const std::vector<float> x = weights(a), y = weights(b);
    ASSERT_EQ(x.size(), y.size());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance) << i;
  }
};

}  // namespace dragoman::internal
