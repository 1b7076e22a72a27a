// Models of fairseq, OpenNMT-py and eole compute here what their makers in tests/golden/ computed.
#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "convert/fixtures.h"
#include "convert/importers.h"
#include "convert/same_scores.h"
#include "search/saved_model.h"
#include "search/score.h"
#include "search/translate_lines.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class ResearchModel : public testing::TestWithParam<const char*> {
 protected:
  ResearchModel() { write_model_folder(import_model({source_}), folder_); }

  const std::string source_ = (golden / GetParam()).string();
  const json reference_ = json::parse(read_file(source_ + "/reference.json"));
  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path("imported");
};

TEST_P(ResearchModel, LinesHaveTheSameIds) {
  const SavedModel model(folder_, kernels_for("baseline"), 1);
  for (const json& line : reference_)
    EXPECT_EQ(json(model.encode_source(line["source"].get<std::string>())), line["ids"]) << line["source"];
}

TEST_P(ResearchModel, TargetsHaveTheSameLogProbabilities) {
  expect_same_log_probabilities(folder_, reference_);
}

TEST_P(ResearchModel, GreedyTranslationsAreTheSame) {
  SavedModel model(folder_, kernels_for("baseline"), 1);
  std::vector<std::string> lines;
  for (const json& line : reference_) lines.push_back(line["source"]);
  SearchOptions greedy = model.search;
  greedy.beam = 1;
  greedy.max_length = 39;
  const auto translated = translate_lines(model, lines, greedy);
  for (size_t i = 0; i < lines.size(); ++i)
    EXPECT_EQ(translated[i].translations[0].text, reference_[i]["greedy"].get<std::string>()) << lines[i];
}

INSTANTIATE_TEST_SUITE_P(Of, ResearchModel,
                         testing::Values("fairseq/post", "fairseq/pre", "fairseq/old", "opennmt/v3",
                                         "opennmt/v2", "opennmt/gated", "opennmt/rotary", "opennmt/relative",
                                         "eole", "eole_gated", "eole_rotary", "eole_rotary_pairs",
                                         "eole_alibi", "eole_relative"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

class DamagedResearchModel : public testing::TestWithParam<const char*> {
 protected:
  DamagedResearchModel() {
    for (const auto& entry : fs::directory_iterator(golden / GetParam()))
      folder_.write(entry.path().filename().string(), read_file(entry.path().string()));
  }

  // The model's file, or eole's folder.
  std::string error() const {
    const std::string source = folder_.path(is_eole_ ? "" : "model.pt");
    return error_of([&] { write_model_folder(import_model({source}, format()), folder_.path("out")); });
  }
  std::string format() const {
    if (is_eole_) return "eole";
    return std::string(GetParam()).starts_with("fairseq") ? "fairseq" : "opennmt-py";
  }

  const bool is_eole_ = std::string(GetParam()).starts_with("eole");
  const std::string weights_ = is_eole_ ? "model.00.safetensors" : "model.pt";
  const TemporaryFolder folder_;
};

TEST_P(DamagedResearchModel, ErrorsAreOneSentence) {
  ASSERT_EQ(error(), "");
  for (const auto& entry : fs::directory_iterator(golden / GetParam())) {
    const std::string name = entry.path().filename().string();
    if (name == "reference.json" || name == "beams.json") continue;
    const std::string whole = read_file(folder_.path(name));
    fs::remove(folder_.path(name));
    EXPECT_NE(error(), "") << name;
    for (const size_t size : {whole.size() / 3, whole.size() / 2, whole.size() - 20}) {
      folder_.write(name, whole.substr(0, size));
      EXPECT_NE(error(), "") << name << " of " << size << " bytes";
    }
    folder_.write(name, whole);
  }
  EXPECT_EQ(error(), "");
}

TEST_P(DamagedResearchModel, SizesOfZeroAreRefused) {
  if (!is_eole_) GTEST_SKIP() << "its sizes are in a pickle";
  const json whole = json::parse(read_file(folder_.path("config.json")));
  for (const char* key : {"heads", "hidden_size", "layers", "transformer_ff"}) {
    json config = whole;
    for (json* place : {&config["model"], &config["model"]["encoder"], &config["model"]["decoder"]})
      (*place)[key] = 0;
    folder_.write("config.json", config.dump());
    EXPECT_NE(error(), "") << key;
  }
}

TEST_P(DamagedResearchModel, FlippedBitsAreRefusedOrHarmless) {
  const std::string whole = read_file(folder_.path(weights_));
  for (size_t at = 0; at < whole.size(); at += 401) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    folder_.write(weights_, damaged);
    error();
  }
}

INSTANTIATE_TEST_SUITE_P(Of, DamagedResearchModel,
                         testing::Values("fairseq/post", "fairseq/old", "opennmt/v3", "opennmt/v2", "eole",
                                         "eole_rotary"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace dragoman::internal
