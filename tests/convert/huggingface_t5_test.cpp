// Hugging Face's T5, MADLAD-400 and ByT5 compute here what transformers computed (tests/golden/make_t5_golden.py).
#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/options.h"
#include "convert/fixtures.h"
#include "convert/same_scores.h"
#include "convert/systems.h"
#include "data/batches.h"
#include "search/translate_lines.h"
#include "text/language_tokens.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path t5_models = golden / "t5";
const std::string to_french = "<2fr> ";

// What a user types: the language of MADLAD's sources is an option.
std::string typed(const json& line) {
  const std::string source = line["source"];
  return source.starts_with(to_french) ? source.substr(to_french.size()) : source;
}

class HuggingFaceT5 : public testing::TestWithParam<const char*> {
 protected:
  HuggingFaceT5() { write_model_folder(import_huggingface_t5({source_}), folder_); }

  SearchOptions options_of(const SavedModel& model) const {
    SearchOptions options = model.search;
    if (GetParam() == std::string("madlad")) options.to = "fr";
    return options;
  }

  const std::string source_ = (t5_models / GetParam()).string();
  const json reference_ = json::parse(read_file(source_ + "/reference.json"));
  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path("imported");
};

TEST_P(HuggingFaceT5, LinesHaveTheSameIds) {
  const SavedModel model(folder_, kernels_for("baseline"), 1);
  for (const json& line : reference_) {
    EXPECT_EQ(json(model.encode_source(typed(line), options_of(model))), line["ids"]) << line["source"];
    EXPECT_EQ(json(model.direction(options_of(model)).start.all()), line["start"]);
  }
}

TEST_P(HuggingFaceT5, TargetsHaveTheSameLogProbabilities) {
  expect_same_log_probabilities(folder_, reference_);
}

TEST_P(HuggingFaceT5, TranslationsAndScoresAreTheSame) {
  SavedModel model(folder_, kernels_for("baseline"), 1);
  for (const json& line : reference_) {
    SearchOptions greedy = options_of(model);
    greedy.beam = 1;
    greedy.max_length = 198;
    SearchOptions beam = greedy;
    beam.beam = 4;
    const std::vector<std::string> lines = {typed(line)};
    const TranslatedLine by_greedy = translate_lines(model, lines, greedy)[0];
    if (by_greedy.repeats) continue;  // it looped, and was translated again
    EXPECT_EQ(by_greedy.translations[0].text, line["greedy"].get<std::string>()) << lines[0];
    const Translation best = translate_lines(model, lines, beam)[0].translations[0];
    if (best.text == line["beam"].get<std::string>()) {
      EXPECT_NEAR(best.score, line["score"].get<double>(), 1e-3) << lines[0];
    } else {  // where the margins are narrow, the details of a beam decide
      EXPECT_GT(best.score, line["score"].get<double>() - 1e-6) << lines[0];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, HuggingFaceT5, testing::Values("t5", "madlad", "byt5"),
                         [](const auto& test) { return std::string(test.param); });

// --- languages --------------------------------------------------------------------------------------

TEST(Madlad, SourcesBeginWithTheTargetLanguage) {
  const ImportedModel model = import_huggingface_t5({(t5_models / "madlad").string()});
  EXPECT_EQ(target_languages(model.vocabularies), (std::vector<std::string>{"fr", "en", "zh_Hant"}));
  EXPECT_EQ(source_languages(model.vocabularies), target_languages(model.vocabularies));
  EXPECT_EQ(model.config.tied, Tied::inputs);
}

TEST(Madlad, NeedsATargetLanguageItHas) {
  const TemporaryFolder temporary;
  const std::string folder = temporary.path("model");
  write_model_folder(import_huggingface_t5({(t5_models / "madlad").string()}), folder);
  const SavedModel model(folder, kernels_for("baseline"), 1);
  EXPECT_THROW(model.direction({}), OptionError);
  SearchOptions options;
  options.from = "de";  // any
  options.to = "fi";
  EXPECT_NE(error_of([&] { model.direction(options); }).find("did you mean fr?"), std::string::npos);
}

TEST(Madlad, IsTunedOnSourcesThatBeginWithTheTargetLanguage) {
  const Vocabularies words = import_huggingface_t5({(t5_models / "madlad").string()}).vocabularies;
  const PairFrame frame = pair_frame(words, {.source_eos = true, .from = "de", .to = "fr"});
  EXPECT_EQ(frame.source.before, words.source->encode("<2fr>"));
  EXPECT_EQ(frame.source.after, std::vector<int32_t>{words.source->special().end});
  EXPECT_EQ(frame.start.all(), std::vector<int32_t>{words.target->special().start});
}

// transformers 5 writes that every model is tied, and by another key whether its output is scaled.
TEST(Madlad, IsTheSameAsSavedByTransformers5) {
  const fs::path source = t5_models / "madlad";
  const TemporaryFolder folder;
  for (const char* file : {"model.safetensors", "spiece.model"})
    folder.write(file, read_file((source / file).string()));
  json config = json::parse(read_file((source / "config.json").string()));
  config["tie_word_embeddings"] = true;
  config["scale_decoder_outputs"] = false;
  folder.write("config.json", config.dump());
  write_model_folder(import_huggingface_t5({folder.path("")}), folder.path("out"));
  expect_same_log_probabilities(folder.path("out"),
                                json::parse(read_file((source / "reference.json").string())));
}

// --- folders ----------------------------------------------------------------------------------------

class T5Folder : public testing::Test {
 protected:
  T5Folder() {
    for (const char* file : {"config.json", "model.safetensors", "spiece.model"})
      folder_.write(file, read_file((t5_models / "t5" / file).string()));
  }

  std::string error_with(const char* key, const json& value) const {
    json config = json::parse(read_file((t5_models / "t5/config.json").string()));
    config[key] = value;
    folder_.write("config.json", config.dump());
    return error_of(
        [&] { write_model_folder(import_huggingface_t5({folder_.path("")}), folder_.path("out")); });
  }

  const TemporaryFolder folder_;
};

TEST_F(T5Folder, AnErrorNamesWhatIsMissingOrUnknown) {
  EXPECT_NE(error_with("feed_forward_proj", "gated-tanh").find("feed_forward_proj \"gated-tanh\""),
            std::string::npos);
  EXPECT_NE(error_with("d_ff", 41).find("block.0.layer.1.DenseReluDense.wi.weight is f16 [40, 24]"),
            std::string::npos);
  EXPECT_NE(error_with("vocab_size", 2'000'000'000).find("the embedding is f16 [96, 24]"), std::string::npos);
  EXPECT_NE(error_with("d_model", 16).find("d_model is 16, but the embedding is f16 [96, 24]"),
            std::string::npos);
  EXPECT_NE(error_with("d_kv", 0).find("d_kv must be at least 1"), std::string::npos);
  EXPECT_NE(error_with("num_layers", 1).find("unsupported tensor \"encoder.block.1."), std::string::npos);
  EXPECT_NE(error_with("num_heads", 4).find("relative_attention_bias.weight is f16 [8, 3]"),
            std::string::npos);
  fs::remove(folder_.path("spiece.model"));
  EXPECT_NE(error_with("num_heads", 3).find("has no spiece.model"), std::string::npos);
}

}  // namespace
}  // namespace dragoman::internal
