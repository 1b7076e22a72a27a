// Hugging Face's models of many languages compute here what transformers computed (tests/golden/make_m2m_golden.py).
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "convert/fixtures.h"
#include "convert/huggingface/languages.h"
#include "convert/systems.h"
#include "search/saved_model.h"
#include "search/score.h"
#include "search/translate_lines.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path m2m_models = golden / "m2m";

SearchOptions options_of(const SavedModel& model, const json& line) {
  SearchOptions options = model.search;
  options.from = line["from"];
  options.to = line["to"];
  return options;
}

class HuggingFaceM2M : public testing::TestWithParam<const char*> {
 protected:
  HuggingFaceM2M() { write_model_folder(import_huggingface_m2m({source_}), folder_); }

  const std::string source_ = (m2m_models / GetParam()).string();
  const json reference_ = json::parse(read_file(source_ + "/reference.json"));
  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path("imported");
};

TEST_P(HuggingFaceM2M, LinesHaveTheSameIds) {
  const SavedModel model(folder_, kernels_for("baseline"), 1);
  for (const json& line : reference_) {
    EXPECT_EQ(json(model.encode_source(line["source"].get<std::string>(), options_of(model, line))),
              line["ids"])
        << line["source"];
    EXPECT_EQ(json(model.direction(options_of(model, line)).start.all()), line["start"]);
  }
}

TEST_P(HuggingFaceM2M, TargetsHaveTheSameLogProbabilities) {
  for (const Kernels* kernels : every_instruction_set()) {
    SavedModel model(folder_, *kernels, 1);
    for (const json& line : reference_) {
      const auto ids = line["ids"].get<std::vector<int32_t>>();
      for (const json& target : line["targets"]) {
        auto words = target["ids"].get<std::vector<int32_t>>();
        words.pop_back();
        PackedSide sources, targets;
        sources.add(ids.data(), ids.data() + ids.size());
        targets.add(words.data(), words.data() + words.size());
        const auto log_p =
            score_pairs(model.model, sources, targets, line["start"].get<std::vector<int32_t>>(), 2)[0];
        ASSERT_EQ(log_p.size(), target["log_probabilities"].size());
        for (size_t i = 0; i < log_p.size(); ++i)
          EXPECT_NEAR(log_p[i], target["log_probabilities"][i].get<double>(), 1e-4)
              << line["source"] << " " << i;
      }
    }
  }
}

TEST_P(HuggingFaceM2M, TranslationsAndScoresAreTheSame) {
  SavedModel model(folder_, kernels_for("baseline"), 1);
  EXPECT_EQ(model.search.beam, 4);
  for (const json& line : reference_) {
    SearchOptions beam = options_of(model, line), greedy = beam;
    greedy.beam = 1;
    greedy.max_length = beam.max_length = 97;
    const std::vector<std::string> lines = {line["source"]};
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

INSTANTIATE_TEST_SUITE_P(Of, HuggingFaceM2M, testing::Values("m2m", "nllb", "mbart50", "mbart"),
                         [](const auto& test) { return std::string(test.param); });

class M2MFolder : public testing::Test {
 protected:
  explicit M2MFolder() {
    for (const auto& entry : fs::directory_iterator(m2m_models / "nllb"))
      folder_.write(entry.path().filename().string(), read_file(entry.path().string()));
  }

  ImportedModel import() const { return import_huggingface_m2m({folder_.path("")}); }
  std::string error() const {
    return error_of([&] { write_model_folder(import(), folder_.path("out")); });
  }
  // With another value of a key.
  void set(const char* file, const char* key, const json& value) const {
    json values = json::parse(read_file(folder_.path(file)));
    if (value.is_discarded()) {
      values.erase(key);
    } else {
      values[key] = value;
    }
    folder_.write(file, values.dump());
  }

  const TemporaryFolder folder_;
};

TEST_F(M2MFolder, WhereTheSourceHasItsLanguageIsTheTokenizersChoice) {
  EXPECT_EQ(import().vocabularies.source->languages().position, Languages::TokenPosition::first);
  set("tokenizer_config.json", "legacy_behaviour", true);
  EXPECT_EQ(import().vocabularies.source->languages().position, Languages::TokenPosition::after_end);
}

TEST_F(M2MFolder, TheForcedTokenIsTheDefault) {
  const auto language = import().vocabularies.target->languages().tokens[2];
  EXPECT_EQ(language.first, "fra_Latn");
  set("generation_config.json", "forced_bos_token_id", language.second);
  EXPECT_EQ(import().search["to"], "fra_Latn");
  EXPECT_EQ(import().search["from"], "eng_Latn");
}

// Lengths count the language and the token that it starts with in transformers, and are those of the output here.
TEST_F(M2MFolder, HowToSearchIsTheFolders) {
  for (const char* key : {"min-length", "no-repeat-ngram", "repetition-penalty"})
    EXPECT_FALSE(import().search.contains(key)) << key;
  set("generation_config.json", "min_length", 7);
  set("generation_config.json", "no_repeat_ngram_size", 3);
  set("generation_config.json", "repetition_penalty", 1.2);
  EXPECT_EQ(import().search["min-length"], 5);
  EXPECT_EQ(import().search["no-repeat-ngram"], 3);
  EXPECT_EQ(import().search["repetition-penalty"], 1.2);
}

TEST_F(M2MFolder, WhatTheSearchLacksIsNoted) {
  const auto notes = [this] {
    return std::ranges::count_if(import().choices, [](const std::string& choice) {
      return choice.ends_with(" is not supported and is ignored");
    });
  };
  const std::string whole = read_file(folder_.path("generation_config.json"));
  EXPECT_EQ(notes(), 0);
  for (const auto& [key, value] :
       std::vector<std::pair<const char*, json>>{{"repetition_penalty", 0.8},
                                                 {"do_sample", true},
                                                 {"num_beam_groups", 2},
                                                 {"encoder_no_repeat_ngram_size", 3},
                                                 {"suppress_tokens", json::array({5})}}) {
    set("generation_config.json", key, value);
    EXPECT_EQ(notes(), 1) << key;
    EXPECT_NE(import().choices.back().find(key), std::string::npos) << import().choices.back();
    folder_.write("generation_config.json", whole);
  }
}

TEST(LanguageName, IsNoOtherPieceWithUnderscores) {
  for (const char* code : {"fr", "ast"}) EXPECT_EQ(language_name("__" + std::string(code) + "__"), code);
  for (const char* token : {"fr_XX", "ceb_PH", "zho_Hans"}) EXPECT_EQ(language_name(token), token);
  for (const char* token : {"____", "_____", "______", "__1__", "__A__", "__init__", "to_do", "id_to",
                            "get_text", "fr_", "fr_Latn", "FR_XX", "fra_latn", "_fr_XX", "fr"})
    EXPECT_EQ(language_name(token), "") << token;
}

// The lists of languages are in several files, of which older folders have one.
TEST_F(M2MFolder, LanguagesAreFoundInWhicheverFileHasThem) {
  const Languages expected = import().vocabularies.source->languages();
  ASSERT_EQ(expected.tokens.size(), 4U);
  std::vector<std::string> names = expected.names();
  const json list = {{"additional_special_tokens", names}};
  json numbers;
  for (const auto& [name, id] : expected.tokens) numbers[name] = id;
  for (const char* file : {"tokenizer_config.json", "tokenizer.json"}) fs::remove(folder_.path(file));
  for (const auto& [name, contents] :
       {std::pair("special_tokens_map.json", list), {"added_tokens.json", numbers}}) {
    folder_.write(name, contents.dump());
    EXPECT_EQ(import().vocabularies.source->languages().names(), names) << name;
    fs::remove(folder_.path(name));
  }
}

TEST_F(M2MFolder, ErrorsNameTheFileAndTheKey) {
  EXPECT_EQ(error(), "");
  const std::string config = read_file(folder_.path("config.json"));
  for (const auto& [key, value] :
       std::vector<std::pair<const char*, json>>{{"d_model", 18},
                                                 {"d_model", "16"},
                                                 {"encoder_layers", 3},
                                                 {"vocab_size", 5},
                                                 {"vocab_size", 100000},
                                                 {"num_experts", 128},
                                                 {"activation_function", "tanhshrink"},
                                                 {"encoder_attention_heads", 0}}) {
    set("config.json", key, value);
    const std::string message = error();
    EXPECT_NE(message, "") << key << value;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    folder_.write("config.json", config);
  }
}

TEST_F(M2MFolder, MissingAndDamagedFilesAreErrors) {
  expect_errors_without_any_of({"config.json", "sentencepiece.bpe.model", "model.safetensors"}, folder_,
                               [this] { return error(); });
}

}  // namespace
}  // namespace dragoman::internal
