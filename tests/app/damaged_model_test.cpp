// A model with one weight that is no number: every command says so, and none makes lines of nothing.
#include <limits>

#include "app/translating_commands.h"

namespace dragoman {
namespace {

class DamagedModel : public TranslatingCommands {
 protected:
  // A weight of the decoder's last norm: all that is said goes through it.
  DamagedModel() {
    SmallModel small(read_model_config(folder_.path), kernels_for("baseline"), 1);
    small.model.parameters.list().back().value.data()[0] = std::numeric_limits<float>::quiet_NaN();
    write_weights(weights_path(folder_.path), small.model.parameters, small.model.parameters.weights());
  }

  void expect_error(const std::string& arguments, const std::string& model) {
    EXPECT_EQ(run(arguments + " --model " + model, "The cat sleeps.\n", 1), "") << arguments;
    EXPECT_NE(errors_.find("no finite number"), std::string::npos) << arguments << "\n" << errors_;
    EXPECT_NE(errors_.find(folder_.path), std::string::npos) << errors_;
  }
};

TEST_F(DamagedModel, IsRefused) {
  for (const char* options : {"", " --beam 1", " --min-length 3", " --sample", " --precision int8"})
    expect_error(std::string("translate") + options, folder_.path);
  const std::string lines = write("lines", "The cat sleeps.\n");
  expect_error("score --source " + lines + " --target " + lines, folder_.path);
  expect_error("inspect --out - --text cat", folder_.path);
  expect_error("quantize --out " + file("small"), folder_.path);
}

TEST_F(DamagedModel, IsRefusedBesideAnother) {
  const ModelFolder whole("whole_" + test_name());
  expect_error("translate", folder_.path + "," + whole.path);
  run("translate --model " + whole.path + "," + folder_.path, "The cat sleeps.\n", 1);
  EXPECT_NE(errors_.find(whole.path + ", or a model beside it, computes"), std::string::npos) << errors_;
}

}  // namespace
}  // namespace dragoman
