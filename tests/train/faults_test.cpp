// Whatever the disk does to a run, and whenever: the run either ends with the right model or says that it did not, and
// once the disk works again the same command ends with the same bits.
#include <sys/wait.h>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "faulty_disk.h"
#include "testing.h"
#include "train/run_model.h"
#include "train/whole_run.h"

namespace dragoman::internal {
namespace {

class Faults : public WholeRun, public testing::WithParamInterface<Fault> {
 protected:
  // The best step is not the last one, and none of the schedule's checkpoints is of it.
  Faults() {
    recipe_.data = {.synthetic = Synthetic::copy, .sentences = 2, .batches = 7, .valid_batches = 1};
    recipe_.model = {.encoder_layers = 1, .decoder_layers = 1, .d_model = 4, .heads = 2, .d_ff = 4};
    recipe_.training.max_steps = 7;
    recipe_.training.ema = 0.5;
    recipe_.training.schedule = Schedule::constant;
    recipe_.training.learning_rate = 0.5;
    recipe_.validation.every = 3;
    recipe_.checkpoints.every = 2;
    recipe_.checkpoints.keep = 1;
  }

  // Whether the run ends without an error.
  bool ends(const std::string& name) {
    if (faulty_disk.fault == Fault::death) return ends_in_a_child(name);
    try {
      train(name);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  bool ends_in_a_child(const std::string& name) {
    const pid_t child = fork();
    if (child == 0) {
      train(name);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status == 0;
  }

  std::vector<std::string> results(const std::string& name) const {
    const std::string run = folder_.path(name);
    const auto newest = Checkpoints(run + "/checkpoints", 1).newest();
    std::vector<std::string> files = {read_file(run + "/model.safetensors")};
    for (const char* file : {"/model.safetensors", "/optimizer.safetensors"})
      files.push_back(newest ? read_file(newest->path + file) : "none");
    return files;
  }

  void TearDown() override { faulty_disk = {}; }
};

TEST_P(Faults, NeverSealAnythingWrong) {
  faulty_disk = {};
  train("whole");
  const int64_t calls = faulty_disk.calls;
  const std::vector<std::string> wanted = results("whole");
  EXPECT_EQ(read_run_model(folder_.path("whole")).step, "3");
  constexpr int64_t step = is_sanitized ? 101 : 17;
  int64_t failures = 0;
  for (int64_t at = static_cast<int64_t>(GetParam()); at < calls; at += step) {
    const std::string run = "run-" + std::to_string(at);
    faulty_disk = {.fault = GetParam(), .at = at};
    const bool ended = ends(run);
    failures += !ended;
    faulty_disk = {};
    EXPECT_TRUE(!ended || results(run)[0] == wanted[0]) << "call " << at << " of " << calls;
    EXPECT_TRUE(ended || ends(run)) << "it does not go on after call " << at << " of " << calls;
    EXPECT_TRUE(ended || results(run) == wanted) << "call " << at << " of " << calls;
    std::filesystem::remove_all(folder_.path(run));
  }
  EXPECT_GT(failures, 0) << "of " << calls << " calls";
}

std::string name_of(const testing::TestParamInfo<Fault>& fault) {
  const char* const names[] = {"None", "NoSpace", "FullFromHere", "IoError", "Lost", "Death"};
  return names[static_cast<size_t>(fault.param)];
}

INSTANTIATE_TEST_SUITE_P(OfTheDisk, Faults,
                         testing::Values(Fault::no_space, Fault::full_from_here, Fault::io_error, Fault::lost,
                                         Fault::death),
                         name_of);

}  // namespace
}  // namespace dragoman::internal
