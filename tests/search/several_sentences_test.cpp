// Texts of several sentences or lines: what each gets, what a prefix is to it, and characters that the model lacks.
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "search/model_folder.h"
#include "search/translate_lines.h"

namespace dragoman::internal {
namespace {

const std::vector<std::string> four_sentences = {"The cat sleeps.", "Where is it?", "A dog barks at the cat.",
                                                 "It is cold, and we go home."};

class SeveralSentences : public testing::Test {
 protected:
  TranslatedLine translate(const std::string& text, const std::string& prefix = "") {
    return translate_lines(model(), {text}, options_, {}, prefix)[0];
  }
  std::string text_of(const std::string& text, const std::string& prefix = "") {
    return translate(text, prefix).translations[0].text;
  }
  SavedModel& model() {
    if (!model_) model_.emplace(folder_.path, kernels_for(nullptr), 1);
    return *model_;
  }
  // Opens the model anew.
  void configure(const nlohmann::json::json_pointer& key, const nlohmann::json& value) {
    const std::string path = folder_.path + "/config.json";
    nlohmann::json config = parse_json(read_file(path));
    config[key] = value;
    write_file(path, {config.dump()});
    model_.reset();
  }
  std::string error_of(const SearchOptions& options) {
    try {
      model().direction(options);
    } catch (const OptionError& error) {
      return error.what();
    }
    return "";
  }

  SearchOptions options_ = {.beam = 3, .max_length = 20};
  ModelFolder folder_{"several_sentences"};
  std::optional<SavedModel> model_;
};

TEST_F(SeveralSentences, AreTranslatedOneByOneUnlessTheModelKnowsParagraphs) {
  const std::string text = "The cat sleeps. Where is it?",
                    one_by_one = text_of("The cat sleeps.") + " " + text_of("Where is it?");
  EXPECT_EQ(text_of(text), one_by_one);
  options_.split_sentences = "none";
  const std::string at_once = text_of(text);
  EXPECT_NE(at_once, one_by_one);
  options_.split_sentences = "auto";
  configure("/data/several_sentences"_json_pointer, 0.5);
  EXPECT_EQ(text_of(text), at_once);
  options_.split_sentences = "en";
  EXPECT_EQ(text_of(text), one_by_one);
  configure("/data/several_sentences"_json_pointer, 0.05);
  options_.split_sentences = "auto";
  EXPECT_EQ(text_of(text), one_by_one);
}

TEST_F(SeveralSentences, LinesStayLines) {
  const std::string cat = text_of("The cat sleeps."), dog = text_of("A dog barks at the cat."),
                    it = text_of("It is cold");
  for (const char* rules : {"auto", "none", "en"}) {
    options_.split_sentences = rules;
    EXPECT_EQ(text_of("The cat sleeps.\nA dog barks at the cat.\n\nIt is cold\n"),
              cat + "\n" + dog + "\n\n" + it);
    EXPECT_EQ(text_of("It is cold\r\nIt is cold"), it + "\r\n" + it);
  }
}

TEST_F(SeveralSentences, APrefixIsConsumedSentenceBySentence) {
  std::string text, whole_ones;
  for (const std::string& sentence : four_sentences) text += (text.empty() ? "" : " ") + sentence;
  for (size_t whole = 0; whole < four_sentences.size(); ++whole, whole_ones += "We go home. ") {
    for (const std::string begun : {"", "A dog"}) {
      SCOPED_TRACE(whole_ones + begun);
      std::string wanted = whole_ones + text_of(four_sentences[whole], begun);
      for (size_t i = whole + 1; i < four_sentences.size(); ++i) wanted += " " + text_of(four_sentences[i]);
      EXPECT_EQ(text_of(text, whole_ones + begun), wanted);
    }
  }
}

// Whatever the sentences before and after it could be.
TEST_F(SeveralSentences, OtherTranslationsDifferInTheSentenceThatThePrefixEndsIn) {
  options_.nbest = 3;
  const TranslatedLine line = translate("The cat sleeps. Where is it? It is cold.", "We go. A");
  ASSERT_GT(line.translations.size(), 1U);
  const TranslatedLine second = translate("Where is it?", "A");
  options_.nbest = 1;
  const std::string last = text_of("It is cold.");
  for (size_t i = 0; i < line.translations.size(); ++i)
    EXPECT_EQ(line.translations[i].text, "We go. " + second.translations[i].text + " " + last);
}

// What is left over belongs to the last sentence.
TEST_F(SeveralSentences, APrefixMayHaveMoreSentencesThanTheText) {
  EXPECT_TRUE(text_of("Where is it?", "We go home. A dog").starts_with("We go home. A dog"));
  EXPECT_TRUE(text_of("The cat sleeps. Where is it?", "We go. We go home. A dog")
                  .starts_with("We go. We go home. A dog"));
}

TEST_F(SeveralSentences, OneOfWhichLittleIsLeftIsFlagged) {
  EXPECT_FALSE(
      translate("It is cold, and we go home. Where is it?", "It is cold, and we go home. ").too_short);
  EXPECT_TRUE(translate("It is cold, and we go home. Where is it?", "We go. ").too_short);
}

// From a source of ten tokens on, whose output has less than two fifths of them.
TEST_F(SeveralSentences, OnesThatAreTooShortAreNotNearlySo) {
  const auto is_too_short = [&](std::vector<std::pair<size_t, size_t>> sizes) {
    SearchedLine line;
    for (const auto& [source, output] : sizes) {
      line.segments.push_back({.ids = std::vector<int32_t>(source, 5)});
      line.hypotheses.push_back({{.hypothesis = {.tokens = std::vector<int32_t>(output, 5)}}});
    }
    return translated_line(line, model().vocabularies, {}, false).too_short;
  };
  EXPECT_FALSE(is_too_short({{9, 0}}));
  EXPECT_TRUE(is_too_short({{10, 0}}));
  EXPECT_TRUE(is_too_short({{10, 3}}));
  EXPECT_FALSE(is_too_short({{10, 4}}));
  EXPECT_TRUE(is_too_short({{100, 39}}));
  EXPECT_FALSE(is_too_short({{100, 40}}));
  EXPECT_TRUE(is_too_short({{9, 0}, {10, 3}, {10, 30}})) << "each sentence counts";
  EXPECT_FALSE(is_too_short({{9, 0}, {10, 4}}));
}

// A line whose output has two tokens of this probability.
TEST_F(SeveralSentences, AFewWordsMayComeBack) {
  const auto found = [&](const std::string& source, double confidence, bool keep_source, bool judged = true) {
    SearchedLine line = {.source = source, .judged = judged};
    line.segments.push_back({.ids = {5, 2}, .marks = {}, .spans = {{0, source.size()}, {}}});
    const auto log_p = static_cast<float>(std::log(confidence));
    for (const int32_t token : {5, 6})
      line.hypotheses.resize(1),
          line.hypotheses[0].push_back(
              {{.tokens = {token, token}, .log_probabilities = {log_p, log_p, -9.0F}}, {}});
    return translated_line(line, model().vocabularies, {.keep_source = keep_source}, true);
  };
  const auto is_unlikely = [&](const char* source, double confidence) {
    return found(source, confidence, false).unlikely;
  };
  for (const char* without_words : {"a", "|", "42", "12 %", "?!"}) {
    EXPECT_TRUE(is_unlikely(without_words, 0.45)) << without_words;
    EXPECT_FALSE(is_unlikely(without_words, 0.55)) << without_words;
  }
  for (const char* words : {"Schneider", "B2C", "one two three"}) {
    EXPECT_TRUE(is_unlikely(words, 0.15)) << words;
    EXPECT_FALSE(is_unlikely(words, 0.25)) << words;
  }
  EXPECT_FALSE(is_unlikely("one two three four", 0.1));
  EXPECT_FALSE(found("a", 0.1, true, /*judged=*/false).unlikely) << "as of samples";

  const TranslatedLine kept = found("Schneider", 0.1, true), translated = found("Schneider", 0.1, false);
  EXPECT_NE(translated.translations[0].text, "Schneider");
  EXPECT_TRUE(kept.unlikely);
  ASSERT_EQ(kept.translations.size(), 2U) << "the others stay";
  EXPECT_EQ(kept.translations[0].text, "Schneider");
  EXPECT_EQ(kept.translations[1].text, translated.translations[1].text);
  ASSERT_EQ(kept.translations[0].pieces.size(), 1U);
  EXPECT_EQ(kept.translations[0].pieces[0].span, (TextSpan{0, 9}));
  EXPECT_FLOAT_EQ(kept.translations[0].pieces[0].log_probability, static_cast<float>(std::log(0.1)));
}

TEST_F(SeveralSentences, AModelOfOnePairKnowsItsLanguages) {
  EXPECT_EQ(error_of({.from = "de", .to = "fr"}), "") << "it does not say which they are";
  configure("/recipe/data/from"_json_pointer, "en");
  configure("/recipe/data/to"_json_pointer, "fr");
  EXPECT_EQ(error_of({}), "");
  EXPECT_EQ(error_of({.from = "eng_Latn", .to = "fr-CA"}), "");
  EXPECT_EQ(error_of({.from = "de"}), "from is \"de\", but this model translates from en");
  EXPECT_EQ(error_of({.to = "de"}), "to is \"de\", but this model translates to fr");
  EXPECT_THROW(validate(SearchOptions{.split_sentences = "xx"}), OptionError);
  validate(SearchOptions{.split_sentences = "pt-BR"});
}

// The vocabulary has neither curly quotes nor the letters of Łódź.
TEST_F(SeveralSentences, NoUnknownTokenIsReadWhereUnknownCharactersAreCopied) {
  options_.replace_unknown = true;
  EXPECT_EQ(text_of("It is cold – and we go home."), text_of("It is cold - and we go home."));
  for (const char* text : {"The cat sleeps.", "The Łódź sleeps.", "Łódź", "ξ ξ ξ Where is it?"}) {
    for (const bool sample : {false, true}) {
      options_.sample = sample;
      const TranslatedLine line = translate(text);
      EXPECT_EQ(line.translations[0].text.find("⁇"), std::string::npos) << line.translations[0].text;
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
