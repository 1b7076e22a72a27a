// CTranslate2's models compute here what CTranslate2 computed (tests/golden/make_ctranslate2_golden.py).
#include <filesystem>
#include <map>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "convert/ctranslate2/file.h"
#include "convert/ctranslate2/names.h"
#include "convert/fixtures.h"
#include "convert/systems.h"
#include "search/saved_model.h"
#include "search/score.h"
#include "search/shortlist.h"
#include "search/translate_lines.h"
#include "testing.h"
#include "text/symbol_vocabulary.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path ctranslate2_models = golden / "ctranslate2";

ImportRequest request_of(const std::string& folder) {
  return {folder,
          {(ctranslate2_models / "trained/source.spm").string(),
           (ctranslate2_models / "trained/target.spm").string()}};
}

// In fp32, as the references are.
std::string imported(const std::string& source, const std::string& folder) {
  ImportedModel model = import_ctranslate2(request_of(source));
  model.precision = Precision::fp32;
  write_model_folder(model, folder);
  return folder;
}

std::vector<int32_t> ids_of(const Vocabulary& vocabulary, const json& pieces) {
  std::vector<int32_t> ids;
  for (const json& piece : pieces) ids.push_back(vocabulary.id(piece.get<std::string>()));
  return ids;
}

class CTranslate2 : public testing::TestWithParam<const char*> {
 protected:
  const std::string source_ = (ctranslate2_models / GetParam()).string();
  const json reference_ = json::parse(read_file(source_ + "/reference.json"));
  const TemporaryFolder temporary_;
  const std::string folder_ = imported(source_, temporary_.path("imported"));
};

TEST_P(CTranslate2, LinesHaveTheSamePieces) {
  const SavedModel model(folder_, kernels_for("baseline"), 1);
  const Vocabulary& vocabulary = *model.vocabularies.source;
  for (const json& line : reference_) {
    std::vector<int32_t> ids = ids_of(vocabulary, line["pieces"]);
    if (model.readers[0].end_mark) ids.push_back(vocabulary.special().end);
    EXPECT_EQ(model.encode_source(line["source"].get<std::string>()), ids) << line["source"];
  }
}

TEST_P(CTranslate2, TargetsHaveTheSameLogProbabilities) {
  for (const Kernels* kernels : every_instruction_set()) {
    SavedModel model(folder_, *kernels, 1);
    const Vocabulary& vocabulary = *model.vocabularies.target;
    const SpecialTokens& special = vocabulary.special();
    for (const json& line : reference_) {
      for (const json& target : line["targets"]) {
        PackedSide sources, targets;
        const auto source = model.encode_source(line["source"].get<std::string>());
        const auto words = ids_of(vocabulary, target["pieces"]);
        sources.add(source.data(), source.data() + source.size());
        targets.add(words.data(), words.data() + words.size());
        const auto log_p = score_pairs(model.model, sources, targets, special.start, special.end)[0];
        ASSERT_EQ(log_p.size(), target["log_probabilities"].size());
        for (size_t i = 0; i < log_p.size(); ++i)
          EXPECT_NEAR(log_p[i], target["log_probabilities"][i].get<double>(), 1e-4)
              << line["source"] << " " << i;
      }
    }
  }
}

TEST_P(CTranslate2, GreedyTranslationsAreTheSame) {
  SavedModel model(folder_, kernels_for("baseline"), 1);
  SearchOptions greedy = model.search;
  EXPECT_EQ(greedy.beam, 2);
  greedy.beam = 1;
  greedy.max_length = 90;
  for (const json& line : reference_) {
    if (!line.contains("greedy")) continue;
    const auto lines = translate_lines(model, {line["source"].get<std::string>()}, greedy);
    EXPECT_EQ(lines[0].translations[0].text, line["greedy"].get<std::string>()) << line["source"];
  }
}

std::string test_name(std::string name) {
  std::ranges::replace(name, '/', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Of, CTranslate2,
                         testing::Values("trained/float32", "trained/float16", "trained/bfloat16",
                                         "trained/int16", "trained/int8", "random/pre_norm",
                                         "random/post_norm", "random/unscaled", "random/scaled",
                                         "random/rounded", "random/gated", "random/gated_rounded",
                                         "random/relative", "random/t5", "random/t5_rounded", "versions/1",
                                         "versions/2", "versions/3", "versions/4", "versions/5"),
                         [](const auto& test) { return test_name(test.param); });

// --- int8 -------------------------------------------------------------------------------------------

int element_of(const LowPrecisionMatrix& matrix, int64_t row, int64_t column) {
  const int64_t lines = (matrix.rows + 3) / 4;
  const int64_t line = column / low_precision_panel_columns * lines + row / 4;
  return matrix.data[line * low_precision_line_bytes + column % low_precision_panel_columns * 4 + row % 4] -
         128;
}

// The folder's integers are those of model.bin.
void expect_same_integers(const std::string& source, const std::string& folder) {
  write_model_folder(import_ctranslate2(request_of(source)), folder);
  const SavedModel model(folder, kernels_for("baseline"), 1);
  const ForeignTensors theirs = open_ctranslate2(source + "/model.bin").tensors;
  int matrices = 0;
  for (const Parameter& parameter : model.model.parameters.list()) {
    if (parameter.role == Role::plain) continue;
    const LowPrecisionMatrix& ours = parameter.value.storage().low_precision;
    ASSERT_EQ(ours.precision, Precision::int8) << parameter.name;
    const ForeignTensor& tensor = theirs.at(ctranslate2_name(parameter.name));
    ASSERT_EQ(tensor.shape, (std::vector{ours.columns, ours.rows})) << parameter.name;
    int64_t different = 0;
    for (int64_t column = 0; column < ours.columns; ++column)
      for (int64_t row = 0; row < ours.rows; ++row)
        different +=
            element_of(ours, row, column) != number_at(tensor, static_cast<size_t>(column * ours.rows + row));
    EXPECT_EQ(different, 0) << parameter.name;
    ++matrices;
  }
  EXPECT_GT(matrices, 8);
}

TEST(CTranslate2Int8, IntegersStayAsTheyAre) {
  const TemporaryFolder temporary;
  expect_same_integers((ctranslate2_models / "trained/int8").string(), temporary.path("out"));
}

// Old versions cut digits off instead of rounding: then 127 is in no row.
TEST(CTranslate2Int8, IntegersWithoutTheLargestStayAsTheyAre) {
  const TemporaryFolder temporary;
  fs::copy(ctranslate2_models / "trained/int8", temporary.path("source"));
  const std::string path = temporary.path("source/model.bin");
  std::string bytes = read_file(path);
  for (const auto& [name, tensor] : open_ctranslate2(path).tensors) {
    if (tensor.type != ElementType::i8 || tensor.shape.size() != 2) continue;
    const std::string old(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
    const size_t at = bytes.find(old);
    if (at == std::string::npos) continue;  // an alias
    for (size_t i = at; i < at + old.size(); ++i)
      if (std::abs(static_cast<signed char>(bytes[i])) > 100) bytes[i] = 100;
  }
  temporary.write("source/model.bin", bytes);
  expect_same_integers(temporary.path("source"), temporary.path("out"));
}

// --- The folder -------------------------------------------------------------------------------------

class CTranslate2Folder : public testing::Test {
 protected:
  explicit CTranslate2Folder(const char* name = "random/rounded") {
    for (const auto& file : fs::directory_iterator(ctranslate2_models / name))
      fs::copy(file, folder_.path(""));
    for (const char* side : {"source.spm", "target.spm"})
      fs::copy(ctranslate2_models / "trained" / side, folder_.path(side));
  }

  // Reads everything, and writes nothing.
  std::string error(const ImportRequest& request) const {
    return error_of([&] {
      const ImportedModel model = import_ctranslate2(request);
      Device device(kernels_for("baseline"), 1);
      const Transformer ours(model.config, device, Buffers::none_yet);
      for (const Parameter& parameter : ours.parameters.list())
        for (const ForeignTensor& part : model.tensors_of(parameter)) to_floats(part);
    });
  }
  std::string error() const { return error({folder_.path("")}); }

  std::string error_with(const char* key, const json& value) const {
    json config = json::parse(read_file((ctranslate2_models / "random/rounded/config.json").string()));
    config[key] = value;
    folder_.write("config.json", config.dump());
    return error();
  }

  const TemporaryFolder folder_;
};

TEST_F(CTranslate2Folder, SentencePieceFilesAreFoundOrAskedFor) {
  EXPECT_EQ(error(), "");
  const std::string beside = (ctranslate2_models / "trained/int8").string();
  EXPECT_EQ(error({beside}), "");
  fs::remove(folder_.path("target.spm"));
  EXPECT_NE(error().find("only one of"), std::string::npos) << error();
  fs::rename(folder_.path("source.spm"), folder_.path("sentencepiece.model"));
  EXPECT_EQ(error(), "");
  fs::copy(folder_.path("sentencepiece.model"), folder_.path("another.model"));
  EXPECT_NE(error().find("2 SentencePiece files"), std::string::npos) << error();
  fs::remove(folder_.path("another.model"));
  fs::rename(folder_.path("sentencepiece.model"), folder_.path("bpe.model"));
  EXPECT_NE(error().find("--vocab"), std::string::npos) << error();
  EXPECT_EQ(error(request_of(folder_.path(""))), "");
  const std::string other = folder_.write("other.spm", symbol_model(100));
  EXPECT_NE(error({folder_.path(""), {other}}).find("belongs to another model"), std::string::npos);
}

TEST_F(CTranslate2Folder, WhatIsNotSupportedIsNamed) {
  EXPECT_NE(error_with("add_source_bos", true).find("add_source_bos"), std::string::npos);
  EXPECT_NE(error_with("decoder_start_token", nullptr).find("decoder_start_token"), std::string::npos);
  EXPECT_NE(error_with("layer_norm_epsilon", "x").find("layer_norm_epsilon"), std::string::npos);
  EXPECT_NE(error_with("multi_query_attention", true).find("multi_query_attention"), std::string::npos);
  EXPECT_EQ(error_with("decoder_start_token", "<s>"), "");
  const std::string tokens = read_file(folder_.path("shared_vocabulary.json"));
  json fewer = json::parse(tokens);
  fewer.erase(5);
  folder_.write("shared_vocabulary.json", fewer.dump());
  EXPECT_NE(error().find("rows"), std::string::npos) << error();
}

std::string counted_text(const std::string& characters) {
  return little(static_cast<uint16_t>(characters.size() + 1)) + characters + '\0';
}

TEST_F(CTranslate2Folder, VariablesOfOtherArchitecturesAreNamed) {
  const std::string whole = read_file(folder_.path("model.bin"));
  const size_t count_at = 4 + counted_text("TransformerSpec").size() + 4;
  uint32_t count = 0;
  std::memcpy(&count, whole.data() + count_at, sizeof count);
  const auto with_scalar = [&](const std::string& name, uint8_t value) {
    folder_.write("model.bin", whole.substr(0, count_at) + little(count + 1) + counted_text(name) + '\0' +
                                   '\1' + little(uint32_t{1}) + little(value) + whole.substr(count_at + 4));
    return error();
  };
  EXPECT_EQ(with_scalar("encoder/alibi", 0), "");
  for (const char* flag : {"with_relative_position", "encoder/layernorm_embedding"})  // the tensors say so
    EXPECT_EQ(with_scalar(flag, 1), "") << flag;
  for (const auto& [name, what] :
       {std::pair("encoder/alibi", "linear biases"),
        {"encoder/layer_0/self_attention/relative_position_keys", "only one of encoder and decoder"},
        {"encoder/layer_0/self_attention/relative_asymmetric_position_keys", "relative positions"},
        {"encoder/layer_0/ffn/linear_0_noact/weight", "linear_0_noact"},
        {"decoder/layer_0/ffn/linear_0_noact/weight", "gated"},
        {"encoder/embeddings_1/weight", "source factors"},
        {"decoder/layer_0/self_attention/rotary_dim", "rotary"},
        {"decoder/project_in/weight", "project_in"}})
    EXPECT_NE(with_scalar(name, 1).find(what), std::string::npos) << error();
}

TEST_F(CTranslate2Folder, VmapIsTheShortlist) {
  folder_.write("vmap.txt", "\t▁never s\n▁sees\tal\nal\t▁sees nothing\n▁sees al\t.\nnowhere\tal\n");
  const ImportedModel imported = import_ctranslate2({folder_.path("")});
  write_model_folder(imported, folder_.path("out"));
  const Vocabularies words = read_vocabularies(folder_.path("out"));
  const Shortlist list = Shortlist::read(folder_.path("out"), words);
  const auto expect_words = [&](const char* source, std::vector<std::string> expected) {
    std::vector<std::string> found;
    const std::vector<int32_t> ids = {words.source->id(source)};
    for (const int32_t id : list.words_for(ids, {})) found.push_back(words.target->piece(id));
    for (const char* always : {"<unk>", "<s>", "</s>", "▁never", "s"}) expected.emplace_back(always);
    std::ranges::sort(found);
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected) << source;
  };
  expect_words("▁sees", {"al", "."});
  expect_words("al", {"▁sees"});
  expect_words(".", {});
  folder_.write("vmap.txt", "no tab\n");
  EXPECT_NE(error().find("vmap.txt:1"), std::string::npos) << error();
}

TEST_F(CTranslate2Folder, MissingAndTruncatedFilesAreErrors) {
  for (const char* name : {"config.json", "model.bin", "shared_vocabulary.json"}) {
    const std::string whole = read_file(folder_.path(name));
    fs::remove(folder_.path(name));
    EXPECT_NE(error(), "") << name;
    for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 40) {
      folder_.write(name, whole.substr(0, size));
      EXPECT_NE(error(), "") << name << " of " << size << " bytes";
    }
    folder_.write(name, whole);
    EXPECT_EQ(error(), "") << name;
  }
}

TEST_F(CTranslate2Folder, DamageIsAnErrorOrAModel) {
  for (const char* name : {"config.json", "model.bin", "shared_vocabulary.json"}) {
    const std::string whole = read_file(folder_.path(name));
    for (size_t at = 0; at < whole.size(); at += 1 + whole.size() / 700) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
      folder_.write(name, damaged);
      error();
    }
    folder_.write(name, whole);
  }
  EXPECT_EQ(error(), "");
}

}  // namespace
}  // namespace dragoman::internal
