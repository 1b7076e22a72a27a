// dragoman info on the folder of a run.
#include <sstream>

#include "app/commands.h"
#include "model/folder.h"
#include "model/weights.h"
#include "train/run_model.h"
#include "train/whole_run.h"

namespace dragoman::internal {
namespace {

class InfoOfARun : public WholeRun {
 protected:
  InfoOfARun() {
    recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 1};
    recipe_.training.schedule = Schedule::constant;
    recipe_.training.learning_rate = 1e-30;  // the first validation stays the best one
    recipe_.training.max_steps = 4;
    recipe_.validation.every = recipe_.checkpoints.every = 2;
  }

  // The value of the line with this name; empty: there is none.
  std::string line(const std::string& name) const {
    testing::internal::CaptureStdout();
    info({folder_.path("run")});
    std::istringstream lines(testing::internal::GetCapturedStdout());
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(name + " ")) return line.substr(line.find_first_not_of(' ', name.size()));
    return "";
  }
};

TEST_F(InfoOfARun, NamesTheBestStep) {
  train("run");
  EXPECT_EQ(line("step"), "2, the best so far");
}

TEST_F(InfoOfARun, NamesTheStepsOfAnAverage) {
  recipe_.training.average_last = 2;
  train("run");
  EXPECT_EQ(line("step"), "average of 2, 4");
}

TEST_F(InfoOfARun, SaysWhatTheFileSaysAndNothingElse) {
  train("run");
  const std::string folder = folder_.path("run");
  Device device(kernels_for(nullptr), 1);
  Transformer model(read_model_config(folder), device, Buffers::weights);
  const HostView<const float> weights(device.memory, model.parameters.weights());
  write_run_model(folder, model.parameters, weights.span(), model_of_step(3, /*resumable=*/false));
  EXPECT_EQ(line("step"), "3, the best so far; there is no checkpoint to resume from");
  write_weights(weights_path(folder), model.parameters, weights.span());
  EXPECT_EQ(line("step"), "") << "as an earlier version, or another command, wrote it";
}

}  // namespace
}  // namespace dragoman::internal
