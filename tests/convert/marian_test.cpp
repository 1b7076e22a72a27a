// Marian's models compute here what Marian computed (tests/golden/make_marian_golden.py).
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "convert/fixtures.h"
#include "convert/importers.h"
#include "convert/systems.h"
#include "model/transformer.h"
#include "search/saved_model.h"
#include "search/score.h"
#include "search/shortlist.h"
#include "search/translate_lines.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path models = golden / "marian_models";

struct MarianCase {
  const char* name;
  bool decodes =
      true;  // Marian decodes pre-norm models with self-attention differently from how it scores them
};
void PrintTo(const MarianCase& c, std::ostream* out) { *out << c.name; }

// Integers compute with rounded activations.
void write_in_floats(const std::string& source, const std::string& folder) {
  ImportedModel model = import_model({source});
  model.precision = Precision::fp32;
  write_model_folder(model, folder);
}

class Marian : public testing::TestWithParam<MarianCase> {
 protected:
  const std::string source_ = (models / GetParam().name).string();
  const json reference_ = json::parse(read_file(source_ + "/reference.json"));
  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path("imported");
};

TEST_P(Marian, LinesHaveTheSameIds) {
  write_in_floats(source_, folder_);
  const SavedModel model(folder_, kernels_for("baseline"), 1);
  for (const json& line : reference_)
    EXPECT_EQ(json(model.encode_source(line["source"].get<std::string>())), line["ids"]) << line["source"];
}

std::vector<float> scores_of(SavedModel& model, const std::vector<int32_t>& source,
                             std::vector<int32_t> target) {
  const SpecialTokens& special = model.vocabularies.target->special();
  EXPECT_EQ(target.back(), special.end);
  target.pop_back();
  PackedSide sources, targets;
  sources.add(source.data(), source.data() + source.size());
  targets.add(target.data(), target.data() + target.size());
  return score_pairs(model.model, sources, targets, special.start, special.end)[0];
}

TEST_P(Marian, TargetsHaveTheSameLogProbabilities) {
  write_in_floats(source_, folder_);
  for (const Kernels* kernels : every_instruction_set()) {
    SavedModel model(folder_, *kernels, 1, RequestedPrecision::fp32);
    for (const json& line : reference_) {
      for (const json& target : line["targets"]) {
        const auto log_p = scores_of(model, line["ids"], target["ids"]);
        const auto expected = target["log_probabilities"].get<std::vector<double>>();
        ASSERT_EQ(log_p.size(), expected.size());
        for (size_t i = 0; i < log_p.size(); ++i)
          EXPECT_NEAR(log_p[i], expected[i], 1e-4) << line["source"] << " " << i;
      }
    }
  }
}

TEST_P(Marian, TranslationsAndScoresAreTheSame) {
  write_in_floats(source_, folder_);
  SavedModel model(folder_, kernels_for("baseline"), 1);
  std::vector<std::string> lines;
  for (const json& line : reference_)
    if (line.contains("greedy")) lines.push_back(line["source"]);
  SearchOptions greedy = model.search, beam = model.search;
  greedy.shortlist = beam.shortlist = false;
  greedy.beam = 1;
  const auto by_greedy = translate_lines(model, lines, greedy), by_beam = translate_lines(model, lines, beam);
  for (size_t i = 0; i < lines.size() && GetParam().decodes; ++i) {
    EXPECT_EQ(by_greedy[i].translations[0].text, reference_[i]["greedy"].get<std::string>()) << lines[i];
    const json& best = reference_[i]["beam"];
    EXPECT_EQ(by_beam[i].translations[0].text, best["text"].get<std::string>()) << lines[i];
    EXPECT_NEAR(by_beam[i].translations[0].score, best["score"].get<double>(), 1e-4) << lines[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Marian,
                         testing::Values(MarianCase{"tied"}, MarianCase{"opus"},
                                         MarianCase{"separate", false}, MarianCase{"embedding_norm"},
                                         MarianCase{"ssru"}, MarianCase{"ssru_pre_norm"},
                                         MarianCase{"bergamot"}),
                         [](const auto& test) { return std::string(test.param.name); });

// Bergamot's candidates of a batch of one sentence, and their search.
TEST(Bergamot, ShortlistAndSearchAreTheOriginals) {
  const std::string source = (models / "bergamot").string();
  const TemporaryFolder temporary;
  const std::string folder = temporary.path("imported");
  write_model_folder(import_model({source}), folder);
  SavedModel model(folder, kernels_for("baseline"), 1);
  EXPECT_TRUE(model.search.shortlist);
  EXPECT_EQ(model.search.beam, 1);
  EXPECT_EQ(model.search.length_penalty, 1);
  EXPECT_EQ(model.search.max_length_ratio, 2);
  const Shortlist shortlist = Shortlist::read(folder, model.vocabularies);
  for (const json& line : json::parse(read_file(source + "/reference.json")))
    EXPECT_EQ(json(shortlist.words_for(line["ids"].get<std::vector<int32_t>>(), {})), line["candidates"]);
}

// The integers of the file, and what they stand for.
TEST(Bergamot, WeightsAreTheIntegersOfTheFile) {
  const ImportedModel model = import_model({(models / "bergamot").string()});
  Device device(kernels_for("baseline"), 1);
  const Transformer transformer(model.config, device, Buffers::none_yet);
  size_t rounded = 0;
  for (const Parameter& parameter : transformer.parameters.list()) {
    for (const ForeignTensor& part : model.tensors_of(parameter)) {
      EXPECT_EQ(part.shape[0], parameter.value.rows()) << parameter.name;
      rounded += part.type == ElementType::i8 && part.scales.size() == 1;
    }
  }
  EXPECT_EQ(rounded, 1U + 2 * 6 + 2 * 8);
  EXPECT_EQ(model.precision, Precision::int8);
}

// What decides the order of a model's norms, gelu, and the search.
TEST(MarianImport, TakesWhatTheFilesSay) {
  const auto import = [](const char* name) { return import_model({(models / name).string()}); };
  const ImportedModel tied = import("tied"), separate = import("separate"), ssru = import("ssru");
  EXPECT_EQ(tied.config.tied, Tied::all);
  EXPECT_EQ(tied.config.norm, NormOrder::post);
  EXPECT_EQ(tied.config.decoder_d_ff, 24);
  EXPECT_EQ(tied.config.norm_eps, 1e-6);
  EXPECT_EQ(tied.search["beam"], 4);
  EXPECT_EQ(tied.search["max-length-ratio"], 3);
  EXPECT_EQ(separate.config.norm, NormOrder::pre);
  EXPECT_EQ(separate.config.tied, Tied::output);
  EXPECT_EQ(separate.config.activation, Activation::gelu);
  EXPECT_EQ(separate.search["length-penalty"], 0.6);
  EXPECT_FALSE(separate.search.contains("shortlist"));
  EXPECT_TRUE(has_ssru(ssru.config));
  EXPECT_TRUE(import("embedding_norm").config.embedding_norm);
}

// A row that no token has was not trained.
TEST(MarianImport, RowsWithoutATokenAreNotOutput) {
  const TemporaryFolder folder;
  for (const char* name : {"model.npz", "model.npz.decoder.yml", "source.spm", "target.spm"})
    folder.write(name, read_file((models / "opus" / name).string()));
  std::string list = read_file((models / "opus/opus.vocab.yml").string());
  const std::string line = "▁hears: 31\n";
  ASSERT_NE(list.find(line), list.npos);
  folder.write("opus.vocab.yml", list.erase(list.find(line), line.size()));
  const auto target = import_model({folder.path("")}).vocabularies.target;
  EXPECT_EQ(target->piece(31), "<unused 31>");
  EXPECT_EQ(std::ranges::count(target->suppressed(), 31), 1);
}

// As Firefox names them, and as the releases of OPUS-MT do.
TEST(MarianImport, FindsFilesByTheNamesOfPublishers) {
  const auto copy = [](const char* from, const TemporaryFolder& to, const char* name) {
    to.write(name, read_file((models / from).string()));
  };
  const TemporaryFolder firefox, opus;
  copy("separate/model.npz", firefox, "model.enfr.npz");
  copy("separate/source.spm", firefox, "srcvocab.enfr.spm");
  copy("separate/target.spm", firefox, "trgvocab.enfr.spm");
  firefox.write("lex.s2t", "la the 0.5\n");
  copy("opus/model.npz", opus, "opus.spm32k.transformer.npz");
  for (const char* name : {"source.spm", "target.spm", "opus.vocab.yml"})
    copy((std::string("opus/") + name).c_str(), opus, name);
  opus.write(
      "decoder.yml",
      "relative-paths: true\nmodels:\n  - opus.spm32k.transformer.npz\nvocabs:\n  - opus.vocab.yml\n  - "
      "opus.vocab.yml\nbeam-size: 6\nnormalize: 1\n");
  for (const auto& [folder, name] : {std::pair(&firefox, "separate"), {&opus, "opus"}}) {
    const ImportedModel found = import_model({folder->path("")}),
                        same = import_model({(models / name).string()});
    EXPECT_EQ(found.vocabularies.source->model(), same.vocabularies.source->model());
    EXPECT_EQ(found.vocabularies.target->model(), same.vocabularies.target->model());
    EXPECT_FALSE(found.shortlist.has_value());
  }
}

}  // namespace
}  // namespace dragoman::internal
