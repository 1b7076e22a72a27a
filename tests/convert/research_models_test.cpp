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

std::string with_bytes(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return text.replace(at, what.size(), with);
}

// As versions 1 and 2 of OpenNMT-py write it where the vocabularies are not shared.
TEST(OpenNmtImport, ASourceVocabularyNeedsNoMarks) {
  const fs::path source = golden / "opennmt/v3";
  const TemporaryFolder folder;
  folder.write("sentencepiece.model", read_file((source / "sentencepiece.model").string()));
  std::string file = read_file((source / "model.pt").string());
  file = with_bytes(file, pickled("<s>"), pickled("<q>"));
  folder.write("model.pt", with_bytes(file, pickled("</s>"), pickled("</q>")));
  const ImportedModel model = import_model({folder.path("model.pt")}, "opennmt-py");
  EXPECT_EQ(model.vocabularies.source->piece(2), "<q>");
  EXPECT_EQ(model.vocabularies.target->piece(2), "<s>");
  write_model_folder(model, folder.path("out"));
  expect_same_log_probabilities(folder.path("out"),
                                json::parse(read_file((source / "reference.json").string())));
}

// NormFormer's, which multiply by parameters of their own.
TEST(FairseqImport, ScalesAreNotSupported) {
  const std::string file = read_file((golden / "fairseq/old/model.pt").string()),
                    option = pickled("encoder_layers");
  const TemporaryFolder folder;
  for (const char* file_beside : {"dict.en.txt", "dict.fr.txt", "sentencepiece.bpe.model"})
    folder.write(file_beside, read_file((golden / "fairseq/old" / file_beside).string()));
  const auto error_with = [&](const std::string& flag, char value) {
    folder.write("model.pt", with_bytes(file, option, pickled(flag) + value + option));
    return error_of([&] { import_model({folder.path("model.pt")}, "fairseq"); });
  };
  constexpr char pickled_true = '\x88', pickled_false = '\x89';
  for (const std::string flag : {"scale_attn", "scale_fc", "scale_heads", "scale_resids"}) {
    EXPECT_EQ(error_with(flag, pickled_false), "");
    EXPECT_NE(error_with(flag, pickled_true).find(flag + " = true is not supported"), std::string::npos);
  }
}

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

// A folder that is written all the same scores a pair, or is refused when it is opened.
TEST_P(DamagedResearchModel, FlippedBitsAreRefusedOrHarmless) {
  const std::string whole = read_file(folder_.path(weights_));
  const auto score = [&] {
    SavedModel model(folder_.path("out"), kernels_for("baseline"), 1);
    const std::vector<int32_t> ids = model.encode_source("The cat sleeps."),
                               words = {static_cast<int32_t>(model.vocabularies.target->size() - 1)};
    PackedSide sources, targets;
    sources.add(ids.data(), ids.data() + ids.size());
    targets.add(words.data(), words.data() + words.size());
    const SpecialTokens& special = model.vocabularies.target->special();
    EXPECT_EQ(score_pairs(model.model, sources, targets, special.start, special.end).size(), 1u);
  };
  for (size_t at = 0; at < whole.size(); at += 401) {
    SCOPED_TRACE(at);
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    folder_.write(weights_, damaged);
    if (error().empty()) error_of(score);
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
