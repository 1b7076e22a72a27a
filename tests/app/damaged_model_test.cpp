// A model with a NaN among its weights: every command says so, and none prints empty lines.
#include <algorithm>
#include <limits>

#include "app/translating_commands.h"

namespace dragoman::internal {
namespace {

class DamagedModel : public TranslatingCommands {
 protected:
  void damage(const std::string& tensor, int64_t place) const {
    SmallModel small(read_model_config(folder_.path), kernels_for("baseline"), 1);
    const auto& list = small.model.parameters.list();
    const auto found = std::ranges::find(list, tensor, &Parameter::name);
    ASSERT_NE(found, list.end());
    found->value.data()[place] = std::numeric_limits<float>::quiet_NaN();
    write_weights(weights_path(folder_.path), small.model.parameters, small.model.parameters.weights());
  }

  void expect_error(const std::string& arguments, const std::string& model) {
    EXPECT_EQ(run(arguments + " --model " + model, "The cat sleeps.\n", 1), "") << arguments;
    EXPECT_NE(errors_.find("finite"), std::string::npos) << arguments << "\n" << errors_;
    EXPECT_NE(errors_.find(folder_.path), std::string::npos) << errors_;
  }
};

// A weight of the decoder's last layer: all that is said goes through it.
constexpr const char* weight = "decoder.layers.1.feed_forward.outer.weight";

TEST_F(DamagedModel, IsRefused) {
  damage(weight, 0);
  for (const char* options : {"", " --beam 1", " --min-length 3", " --sample", " --precision int8"})
    expect_error(std::string("translate") + options, folder_.path);
  const std::string lines = write("lines", "The cat sleeps.\n");
  expect_error("score --source " + lines + " --target " + lines, folder_.path);
  expect_error("inspect --out - --text cat", folder_.path);
  expect_error("quantize --out " + file("small"), folder_.path);
}

TEST_F(DamagedModel, IsRefusedBesideAnother) {
  damage(weight, 0);
  const ModelFolder whole("whole");
  expect_error("translate", folder_.path + "," + whole.path);
  run("translate --model " + whole.path + "," + folder_.path, "The cat sleeps.\n", 1);
  EXPECT_NE(errors_.find(whole.path + ", or another model of the ensemble, computes"), std::string::npos)
      << errors_;
}

// One word that can never be said, and is in no source.
TEST_F(DamagedModel, IsRefusedForASingleWord) {
  const Vocabularies words = read_vocabularies(folder_.path);
  const std::string& last = words.target->piece(static_cast<int32_t>(words.target->size()) - 1);
  ASSERT_EQ(std::string("▁The▁cat▁sleeps.").find(last), std::string::npos);
  damage("shared_embedding.weight", words.target->size() * 20 - 1);
  for (const char* options : {"", " --beam 1", " --min-length 3", " --sample"})
    expect_error(std::string("translate") + options, folder_.path);
}

TEST_F(DamagedModel, IsRefusedWhileItIsReadWhereATensorIsSmall) {
  damage("decoder.norm.gain", 3);
  for (const char* command : {"translate", "inspect --out - --text cat"}) {
    expect_error(command, folder_.path);
    EXPECT_NE(errors_.find("model.safetensors: decoder.norm.gain contains"), std::string::npos) << errors_;
  }
}

}  // namespace
}  // namespace dragoman::internal
