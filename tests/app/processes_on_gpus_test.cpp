// Several processes that each train on a GPU and sum gradients in the GPUs' memory: with twins of the plug-in and of
// NCCL (tests/gpu/twins/), so that no GPU is needed.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "app/process_runs.h"
#include "base/random.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

// Fibers are slow: few steps, between which nothing is validated.
constexpr int64_t last_step = 8;

class ProcessesOnGpusTest : public ProcessRuns {
 protected:
  void SetUp() override {
    ProcessRuns::SetUp();
    if (std::string(DRAGOMAN_PLUGIN_TWIN).empty()) GTEST_SKIP() << "without CUDA's headers or Boost.Context";
    set("DRAGOMAN_CUDA_PLUGIN", DRAGOMAN_PLUGIN_TWIN);
    with_nccl();
    with_processes(2);
  }
  void TearDown() override {
    for (const char* variable :
         {"DRAGOMAN_CUDA_PLUGIN", "DRAGOMAN_NCCL", "TWIN_GPUS", "TWIN_NCCL_VERSION_OF_1",
          "TWIN_FAILING_WAIT_OF_1", "OMPI_MCA_odls_base_sigkill_timeout"})
      unsetenv(variable);
  }

  static void set(const char* variable, const std::string& value) { setenv(variable, value.c_str(), 1); }
  static void with_nccl() { set("DRAGOMAN_NCCL", DRAGOMAN_NCCL_TWIN); }
  static void without_nccl() { set("DRAGOMAN_NCCL", "/nonexistent/libnccl.so.2"); }

  pid_t begin(const std::string& out, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--training.device=cuda", "--training.precision=fp32", "--validation.every=0",
                               "--training.epsilon=1e-3", steps(last_step)});
    return start(out, more);
  }
  int train(const std::string& out, const std::vector<std::string>& more = {}) {
    return wait_for(begin(out, more));
  }
  std::vector<std::string> results_of(const std::string& out) const { return results(out, last_step); }

  // What the program says of why it ended.
  std::string failure() const {
    const std::string text = log(), prefix = "dragoman: ";
    const size_t begin = text.find(prefix);
    if (begin == std::string::npos) return "nothing: " + text;
    EXPECT_EQ(text.find(prefix, begin + 1), std::string::npos) << "it is said twice: " << text;
    return text.substr(begin + prefix.size(), text.find('\n', begin) - begin - prefix.size());
  }
};

TEST_F(ProcessesOnGpusTest, MatchOneThatAccumulatesAndGiveTheBitsOfSumsByMpi) {
  ASSERT_EQ(train("nccl"), 0) << log();
  EXPECT_NE(log().find("gradients are summed in the GPUs' memory by NCCL 2.29.7"), std::string::npos)
      << log();
  ASSERT_EQ(train("again"), 0) << log();
  EXPECT_EQ(results_of("again"), results_of("nccl"));
  without_nccl();
  ASSERT_EQ(train("mpi"), 0) << log();
  EXPECT_NE(log().find("gradients are summed by the host and MPI, since process 0"), std::string::npos)
      << log();
  EXPECT_EQ(results_of("mpi"), results_of("nccl"));
  with_one();
  ASSERT_EQ(train("one", {"--training.accumulate=4"}), 0) << log();
  expect_near("nccl", "one", 2e-5F);
}

TEST_F(ProcessesOnGpusTest, CanSendGradientsInBf16) {
  const std::vector<std::string> in_bf16 = {"--training.reduce_as=bf16"};
  ASSERT_EQ(train("nccl", in_bf16), 0) << log();
  ASSERT_EQ(train("fp32"), 0) << log();
  expect_near("nccl", "fp32", 2e-3F);
  EXPECT_NE(weights("nccl"), weights("fp32"));
  without_nccl();
  ASSERT_EQ(train("mpi", in_bf16), 0) << log();
  EXPECT_EQ(results_of("mpi"), results_of("nccl"));
}

// Of 4 million numbers; and one of three owns fewer than the others.
TEST_F(ProcessesOnGpusTest, SumGradientsOfManySlices) {
  set("TWIN_GPUS", "3");
  with_processes(3);
  const std::vector<std::string> more = {"--data.symbols=48000", steps(2), "--data.sentences=2",
                                         "--training.ema=0", "--checkpoints.every=0"};
  ASSERT_EQ(train("nccl", more), 0) << log();
  without_nccl();
  ASSERT_EQ(train("mpi", more), 0) << log();
  EXPECT_EQ(weights("mpi"), weights("nccl"));
}

TEST_F(ProcessesOnGpusTest, KilledAtRandomInstantsTheyEndWithTheSameBits) {
  ASSERT_EQ(train("whole"), 0) << log();
  Random random(5);
  for (const int number : {1, 0, 1}) {
    const pid_t launcher = begin("killed");
    const pid_t child = process(launcher, number);
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + random.below(900)));
    send(child, SIGKILL);
    wait_for(launcher);
  }
  ASSERT_EQ(train("killed"), 0) << log();
  EXPECT_EQ(results_of("killed"), results_of("whole"));
}

// A process that stops answers no more: the other one waits for it in a sum.
TEST_F(ProcessesOnGpusTest, OneThatIsLostInASumIsReportedAndTheSameCommandResumes) {
  // mpirun kills the others soon after one has died: on a busy machine before they have said why they stop.
  set("OMPI_MCA_odls_base_sigkill_timeout", "3");
  for (const bool dies : {true, false}) {
    const std::string out = dies ? "dead" : "hung", seconds = dies ? "60" : "2";
    std::filesystem::remove(path("log"));
    const pid_t launcher = begin(out, {endless_, "--training.heartbeat_timeout=" + seconds});
    const pid_t child = training_process(launcher, 1, out);
    send(child, SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const auto lost = Clock::now();
    if (dies) send(child, SIGKILL);
    EXPECT_NE(wait_for(launcher), 0);
    EXPECT_LT(std::chrono::duration<double>(Clock::now() - lost).count(), 10)
        << "the default is 8, and mpirun waits for some four itself";
    EXPECT_NE(log().find(dies ? "has died" : "does not respond"), std::string::npos) << log();
    EXPECT_NE(failure().find("stopped because process 1 of 2 ("), std::string::npos) << failure();
    const auto newest = Checkpoints(path(out) + "/checkpoints", 3).newest();
    const int64_t end = (newest ? newest->step : 0) + 4;
    ASSERT_EQ(train(out, {steps(end)}), 0) << log();
    ASSERT_EQ(train("whole_" + out, {steps(end)}), 0) << log();
    EXPECT_EQ(results(out, end), results("whole_" + out, end));
  }
}

TEST_F(ProcessesOnGpusTest, AGpuThatFailsIsReportedByItsProcessAndTheSameCommandResumes) {
  ASSERT_EQ(train("whole"), 0) << log();
  std::filesystem::remove(path("log"));
  set("TWIN_FAILING_WAIT_OF_1", "20");
  EXPECT_NE(train("failed"), 0);
  EXPECT_EQ(failure().find("cuda:1 (Fake) has failed, which was found at"), 0) << failure();
  unsetenv("TWIN_FAILING_WAIT_OF_1");
  ASSERT_EQ(train("failed"), 0) << log();
  EXPECT_EQ(results_of("failed"), results_of("whole"));
}

TEST_F(ProcessesOnGpusTest, VersionsOfNcclMustNotDiffer) {
  set("TWIN_NCCL_VERSION_OF_1", "22105");
  EXPECT_NE(train("versions"), 0);
  EXPECT_EQ(failure(), "process 0 has NCCL 2.29.7, but process 1 has 2.21.5: install one version everywhere");
}

TEST_F(ProcessesOnGpusTest, AnOldNcclIsNotUsed) {
  set("TWIN_NCCL_VERSION_OF_1", "21003");
  ASSERT_EQ(train("old"), 0) << log();
  EXPECT_NE(log().find("process 1 cannot do it on its GPU: "), std::string::npos) << log();
  EXPECT_NE(log().find(" is NCCL 2.10.3, but 2.14.0 or newer is needed"), std::string::npos) << log();
}

TEST_F(ProcessesOnGpusTest, TwoMustNotHaveOneGpu) {
  set("TWIN_GPUS", "1");
  EXPECT_NE(train("shared"), 0);
  EXPECT_EQ(failure().find("processes 0 and 1 use the same GPU"), 0) << failure();
}

TEST_F(ProcessesOnGpusTest, AMissingGpuIsReportedOnce) {
  set("TWIN_GPUS", "0");
  EXPECT_NE(train("missing"), 0);
  EXPECT_EQ(failure().find("there is no GPU of NVIDIA's here"), 0) << failure();
}

}  // namespace
}  // namespace dragoman::internal
