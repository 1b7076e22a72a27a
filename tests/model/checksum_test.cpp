// Checksums of models: what is made of a model is made again where it translates otherwise, and only there.
#include "model/checksum.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "temporary_folder.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

class ModelChecksums : public testing::Test {
 protected:
  ModelChecksums() {
    write_file(folder_.path("model.safetensors"), {"weights"});
    write(config_);
  }

  void write(const nlohmann::json& config) const { write_file(folder_.path("config.json"), {config.dump()}); }
  std::string checksum() const { return model_checksum(folder_.path(".")); }
  std::string checksum_with(const char* place, const nlohmann::json& value) const {
    nlohmann::json config = config_;
    config[nlohmann::json::json_pointer(place)] = value;
    write(config);
    return checksum();
  }

  const TemporaryFolder folder_;
  const nlohmann::json config_ = {
      {"format", 1},
      {"model", {{"d_model", 64}}},
      {"recipe",
       {{"data",
         {{"from", "en"}, {"source", {"models/x/taught/parallel"}}, {"terms", ""}, {"max_length", 30}}},
        {"training", {{"threads", 1}, {"label_smoothing", 0.1}}},
        {"vocabulary", {{"source_eos", true}, {"from", ""}}}}},
      {"given", {"data.from"}},
      {"made_by", {{"build", "1"}}}};
};

TEST_F(ModelChecksums, DoNotTellHowItWasMade) {
  const std::string before = checksum();
  EXPECT_EQ(before, checksum_with("/recipe/training/threads", 2));
  EXPECT_EQ(before, checksum_with("/recipe/training/max_steps", 7));
  EXPECT_EQ(before, checksum_with("/recipe/checkpoints", {{"every", 100}}));
  EXPECT_EQ(before, checksum_with("/recipe/data/source", {"models/y/taught/parallel"}));
  EXPECT_EQ(before, checksum_with("/given", {"training.threads"}));
  EXPECT_EQ(before, checksum_with("/made_by/build", "2"));
  write(config_);
  write_file(folder_.path("confidence.json"), {"{}"});
  write_file(folder_.path("metrics.jsonl"), {"{}"});
  EXPECT_EQ(before, checksum());
}

TEST_F(ModelChecksums, TellHowItTranslates) {
  const std::string before = checksum();
  EXPECT_NE(before, checksum_with("/model/d_model", 32));
  EXPECT_NE(before, checksum_with("/search", {{"beam", 1}}));
  EXPECT_NE(before, checksum_with("/data", {{"several_sentences", 0.5}}));
  EXPECT_NE(before, checksum_with("/recipe/data/from", "de"));
  EXPECT_NE(before, checksum_with("/recipe/data/max_length", 40));
  EXPECT_NE(before, checksum_with("/recipe/data/terms", "terms.tsv"));
  EXPECT_NE(before, checksum_with("/recipe/vocabulary/source_eos", false));
  EXPECT_NE(before, checksum_with("/recipe/training/label_smoothing", 0.0));
  write(config_);
  EXPECT_EQ(before, checksum());
  write_file(folder_.path("shortlist.safetensors"), {"words"});
  EXPECT_NE(before, checksum());
}

// Whoever opens the model says what is wrong with it.
TEST_F(ModelChecksums, AreThereOfDamagedModels) {
  const std::string before = checksum();
  for (const char* damaged : {"", "{", "[]", "7", "{\"recipe\":7}"}) {
    write_file(folder_.path("config.json"), {damaged});
    EXPECT_NE(before, checksum()) << damaged;
  }
}

}  // namespace
}  // namespace dragoman::internal
