// Hugging Face's Marian models compute here what transformers computed (tests/golden/make_huggingface_golden.py).
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "convert/fixtures.h"
#include "convert/same_scores.h"
#include "convert/systems.h"
#include "search/saved_model.h"
#include "search/score.h"
#include "search/segments.h"
#include "search/translate_lines.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path huggingface_models = golden / "huggingface";

class LanguageTag : public testing::Test {
 protected:
  const TemporaryFolder folder_;
};

class HuggingFaceMarian : public testing::TestWithParam<const char*> {
 protected:
  const std::string source_ = (huggingface_models / GetParam()).string();
  const json reference_ = json::parse(read_file(source_ + "/reference.json"));
  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path("imported");
};

TEST_P(HuggingFaceMarian, LinesHaveTheSameIds) {
  write_model_folder(import_huggingface_marian({source_}), folder_);
  const SavedModel model(folder_, kernels_for("baseline"), 1);
  for (const json& line : reference_)
    EXPECT_EQ(json(model.encode_source(line["source"].get<std::string>())), line["ids"]) << line["source"];
}

TEST_P(HuggingFaceMarian, TargetsHaveTheSameLogProbabilities) {
  write_model_folder(import_huggingface_marian({source_}), folder_);
  expect_same_log_probabilities(folder_, reference_);
}

TEST_P(HuggingFaceMarian, TranslationsAndScoresAreTheSame) {
  write_model_folder(import_huggingface_marian({source_}), folder_);
  SavedModel model(folder_, kernels_for("baseline"), 1);
  std::vector<std::string> lines;
  for (const json& line : reference_) lines.push_back(line["source"]);
  SearchOptions greedy = model.search, beam = model.search;
  greedy.beam = 1;
  EXPECT_EQ(beam.beam, 4);
  greedy.max_length = beam.max_length = 98;
  const auto by_greedy = translate_lines(model, lines, greedy), by_beam = translate_lines(model, lines, beam);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(by_greedy[i].translations[0].text, reference_[i]["greedy"].get<std::string>()) << lines[i];
    if (reference_[i]["beam"].empty()) continue;
    const json& best = reference_[i]["beam"][0];
    EXPECT_EQ(by_beam[i].translations[0].text, best["text"].get<std::string>()) << lines[i];
    EXPECT_NEAR(by_beam[i].translations[0].score, best["score"].get<double>(), 1e-3) << lines[i];
  }
}

// The target's language, which a line names once, is that of each of its sentences.
TEST_F(LanguageTag, IsReadWithEachSentence) {
  write_model_folder(import_huggingface_marian({(huggingface_models / "joint").string()}),
                     folder_.path("imported"));
  SavedModel model(folder_.path("imported"), kernels_for("baseline"), 1);
  const std::string first = ">>fra<< the cat sees a dog.", second = ">>fra<< A dog sees the cat.";
  const auto alone = translate_lines(model, {first, second}, model.search);
  SearchOptions options = model.search;
  options.split_sentences = "en";
  const auto together = translate_lines(model, {first + " A dog sees the cat."}, options);
  EXPECT_EQ(together[0].translations[0].text,
            alone[0].translations[0].text + " " + alone[1].translations[0].text);
  const auto parts = split_line(model, first + " A dog sees the cat.", options);
  EXPECT_EQ(parts.at(1).ids, model.encode_source(second));
}

SearchOptions beam_options(const SearchOptions& of_folder, const json& line) {
  SearchOptions options = of_folder;
  options.beam = options.nbest = std::ssize(line["texts"]);
  options.beam_ending = line["early"] ? BeamEnding::early : BeamEnding::separate;
  options.length_penalty = line["penalty"];
  if (options.length_penalty == 0) options.penalty_form = LengthPenalty::gnmt;
  return options;
}

// Without texts that other tokens gave before, which an n-best list here has once.
std::vector<std::pair<std::string, double>> unique_translations(const json& line) {
  std::vector<std::pair<std::string, double>> unique;
  for (size_t i = 0; i < line["texts"].size(); ++i) {
    const std::string text = line["texts"][i];
    if (std::ranges::find(unique, text, [](const auto& known) { return known.first; }) == unique.end())
      unique.emplace_back(text, line["scores"][i]);
  }
  return unique;
}

// Of an output that was cut; transformers' tokenizer leaves it out.
std::string without_last_space(std::string text) {
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

// `longest`: what transformers' max_length was.
void expect_same_beams(const std::string& folder, const std::string& path, int64_t longest) {
  for (const Kernels* kernels : every_instruction_set()) {
    SavedModel model(folder, *kernels, 1);
    EXPECT_EQ(model.search.beam_ending, BeamEnding::separate);
    for (const json& line : json::parse(read_file(path))) {
      SearchOptions options = beam_options(model.search, line);
      options.max_length = longest - 2;
      const auto found = translate_lines(model, {line["source"].get<std::string>()}, options);
      const auto& translations = found[0].translations;
      const auto expected = unique_translations(line);
      ASSERT_EQ(translations.size(), expected.size()) << line["source"];
      for (size_t i = 0; i < translations.size(); ++i) {
        EXPECT_EQ(without_last_space(translations[i].text), expected[i].first) << line["source"] << " " << i;
        EXPECT_NEAR(translations[i].score, expected[i].second, 1e-3) << line["source"] << " " << i;
      }
    }
  }
}

// Of every width, by both rules of ending, and with several exponents of the length.
TEST_P(HuggingFaceMarian, BeamsAreTheSame) {
  write_model_folder(import_huggingface_marian({source_}), folder_);
  expect_same_beams(folder_, source_ + "/beams.json", 60);
}

// The folder has forced_eos_token_id: where an output has the maximum length, its end is certain.
TEST(HuggingFaceMarianSearch, BeamsOfTheMaximumLengthAreTheSame) {
  const TemporaryFolder temporary;
  const std::string source = (huggingface_models / "joint").string(), folder = temporary.path("imported");
  write_model_folder(import_huggingface_marian({source}), folder);
  expect_same_beams(folder, source + "/cut_beams.json", 9);
}

INSTANTIATE_TEST_SUITE_P(Of, HuggingFaceMarian, testing::Values("joint", "separate"),
                         [](const auto& test) { return std::string(test.param); });

class DamagedHuggingFaceMarian : public testing::Test {
 protected:
  DamagedHuggingFaceMarian() {
    for (const char* file : {"config.json", "vocab.json", "source.spm", "target.spm", "model.safetensors"})
      folder_.write(file, read_file((huggingface_models / "joint" / file).string()));
  }

  std::string error() const {
    return error_of(
        [&] { write_model_folder(import_huggingface_marian({folder_.path("")}), folder_.path("out")); });
  }

  // With another value of a key of config.json.
  std::string error_with(const char* key, const json& value) const {
    json config = json::parse(read_file((huggingface_models / "joint/config.json").string()));
    if (value.is_discarded()) {
      config.erase(key);
    } else {
      config[key] = value;
    }
    folder_.write("config.json", config.dump());
    return error();
  }

  const TemporaryFolder folder_;
};

TEST_F(DamagedHuggingFaceMarian, ErrorsNameTheFileAndTheKey) {
  EXPECT_EQ(error(), "");
  for (const auto& [key, value] :
       std::vector<std::pair<const char*, json>>{{"d_model", 18},
                                                 {"d_model", -1},
                                                 {"d_model", 1e300},
                                                 {"d_model", "16"},
                                                 {"encoder_layers", 3},
                                                 {"encoder_ffn_dim", 33},
                                                 {"vocab_size", 5},
                                                 {"activation_function", "tanhshrink"},
                                                 {"normalize_before", true},
                                                 {"static_position_embeddings", false},
                                                 {"eos_token_id", 100000},
                                                 {"tie_word_embeddings", "no"},
                                                 {"encoder_attention_heads", 0}}) {
    const std::string message = error_with(key, value);
    EXPECT_NE(message, "") << key << value;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  EXPECT_NE(error_with("activation_function", "tanhshrink").find("tanhshrink"), std::string::npos);
}

TEST_F(DamagedHuggingFaceMarian, NumbersOfNewTokensOverrideLengths) {
  const auto search_with = [&](const json& generation) {
    folder_.write("generation_config.json", generation.dump());
    return import_huggingface_marian({folder_.path("")}).search;
  };
  const json lengths = search_with({{"max_length", 31}, {"min_length", 6}});
  EXPECT_EQ(lengths["max-length"], 29);
  EXPECT_EQ(lengths["min-length"], 5);
  const json numbers =
      search_with({{"max_length", 31}, {"min_length", 6}, {"max_new_tokens", 21}, {"min_new_tokens", 4}});
  EXPECT_EQ(numbers["max-length"], 20);
  EXPECT_EQ(numbers["min-length"], 4);
}

TEST_F(DamagedHuggingFaceMarian, AnEndOfTheBeamThatIsNotSupportedIsNoted) {
  folder_.write("generation_config.json", R"({"early_stopping": "never"})");
  const ImportedModel model = import_huggingface_marian({folder_.path("")});
  EXPECT_EQ(model.search["beam-ending"], "separate");
  EXPECT_TRUE(std::ranges::any_of(model.choices, [](const std::string& choice) {
    return choice.find("early_stopping = \"never\" is not supported") != choice.npos;
  }));
}

TEST_F(DamagedHuggingFaceMarian, MissingAndDamagedFilesAreErrors) {
  expect_errors_without_any_of({"config.json", "vocab.json", "source.spm", "target.spm", "model.safetensors"},
                               folder_, [this] { return error(); });
}

}  // namespace
}  // namespace dragoman::internal
