// Translating with what somebody has translated before: taken as it is where it is the text, and a sentence of it, and
// in view of the search where it is similar.
#include "search/known_segments.h"

#include <map>

#include "search/text_requests.h"
#include "search/translate_lines.h"

namespace dragoman::internal {
namespace {

class KnownSegmentsTest : public testing::Test {
 protected:
  // Every text, without a look at how similar it is.
  LookUpSegments memory(const std::vector<KnownSegment>& segments) {
    return [this, segments](std::string_view text, const SearchOptions&) {
      asked_.emplace_back(text);
      std::vector<KnownSegment> found;
      for (const KnownSegment& segment : segments)
        if (segment.exact == (segment.source == text)) found.push_back(segment);
      return found;
    };
  }
  TranslatedLine translate(TranslationRequest request, int64_t* steps = nullptr) {
    SteppedTranslator translator(model_);
    if (request.options.max_length > 20) request.options.max_length = 20;
    translator.add(0, std::move(request));
    TranslationResult result = run_all(translator).at(0);
    EXPECT_EQ(result.error, "");
    if (steps != nullptr) *steps = static_cast<int64_t>(translator.steps());
    return std::move(result.line);
  }

  const ModelFolder folder_{"known-segments"};
  SavedModel model_{folder_.path, kernels_for(nullptr), 1};
  std::vector<std::string> asked_;
};

TEST_F(KnownSegmentsTest, AKnownTextIsTakenAsItIs) {
  const std::vector<KnownSegment> known = {{"The cat sleeps.", "Le  chat Ω\ndort.", 1, true}};
  int64_t steps = 0;
  const TranslatedLine line =
      translate({.text = "The cat sleeps.", .look_up = memory(known), .options = {.nbest = 3}}, &steps);
  EXPECT_EQ(line.translations.size(), 1U);
  EXPECT_EQ(line.translations[0].text, "Le  chat Ω dort.") << "a line stays one";
  EXPECT_TRUE(line.memory);
  EXPECT_EQ(line.known, known);
  EXPECT_FALSE(line.unknown || line.too_short || line.unlikely);
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(line.translations[0].pieces.back().span.end, 16U);
}

TEST_F(KnownSegmentsTest, UnlessItIsToBeginOtherwise) {
  const std::vector<KnownSegment> known = {{"The cat sleeps.", "A dog sleeps.", 1, true}};
  const TranslationRequest request = {.text = "The cat sleeps.", .look_up = memory(known)};
  TranslationRequest prefixed = request, searched = request, aligned = request;
  prefixed.prefix = "It is";
  EXPECT_TRUE(translate(prefixed).translations[0].text.starts_with("It is"));
  searched.take_exact = false;
  const TranslatedLine line = translate(searched);
  EXPECT_EQ(line.translations[0].text, "A dog sleeps.") << "it is the nearest neighbour";
  EXPECT_FALSE(line.memory);
  EXPECT_EQ(line.known, known);
  aligned.options.alignment = true;
  EXPECT_EQ(translate(aligned).translations[0].text, "A dog sleeps.");
}

TEST_F(KnownSegmentsTest, OfSeveralSentencesKnownOnesAreNotSearchedFor) {
  const std::string text = "The cat sleeps. Where is the station? It is cold, and we go home.";
  const TranslatedLine plain = translate({.text = text, .options = {.split_sentences = "en"}});
  const std::vector<KnownSegment> known = {{"Where is the station?", "Où est la gare ?", 1, true}};
  const TranslatedLine line =
      translate({.text = text, .look_up = memory(known), .options = {.split_sentences = "en"}});
  EXPECT_EQ(asked_, (std::vector<std::string>{text, "The cat sleeps.", "Where is the station?",
                                              "It is cold, and we go home."}));
  EXPECT_NE(line.translations[0].text.find(" Où est la gare ? "), std::string::npos)
      << line.translations[0].text;
  EXPECT_FALSE(line.memory);
  EXPECT_EQ(line.known, known);
  const std::string& was = plain.translations[0].text;
  EXPECT_EQ(line.translations[0].text.substr(0, 8), was.substr(0, 8)) << "the others are as without it";
}

// Nobody searches for a translation that has them.
TEST_F(KnownSegmentsTest, MayLackATerm) {
  const std::string text = "The cat sleeps.", two = text + " Where is the station?";
  const size_t station = two.find("station");
  const std::vector<KnownSegment> known = {{text, "Le chat dort.", 1, true},
                                           {"Where is the station?", "Où est la\n gare ?", 1, true}};
  const auto misses = [&](const std::string& line, const GivenTerm& term) {
    TranslationRequest request = {
        .text = line, .terms = {term}, .look_up = memory(known), .options = {.split_sentences = "en"}};
    return translate(request).terms_missed;
  };
  EXPECT_FALSE(misses(text, {{4, 7}, {"chien", "chat"}}));
  EXPECT_TRUE(misses(text, {{4, 7}, {"chien"}}));
  EXPECT_FALSE(misses(two, {{station, station + 7}, {"la gare"}}));
  EXPECT_TRUE(misses(two, {{station, station + 7}, {"l'arrêt"}}));
}

TEST_F(KnownSegmentsTest, SimilarOnesThatTheModelCannotReadAreLeftOut) {
  std::string too_long = "The";
  for (int i = 0; i < 50; ++i) too_long += " cat";
  const std::vector<KnownSegment> known = {
      {too_long, "A dog.", 0.6, false}, {" ", "A dog.", 0.6, false}, {"The cat.", "A dog.", 0.5, false}};
  const TranslatedLine line = translate({.text = "The cat sleeps.", .look_up = memory(known)});
  EXPECT_EQ(line.known, (std::vector{known[2]}));
}

TEST_F(KnownSegmentsTest, ThoseThatSayNothingNewAreLeftOut) {
  const std::vector<KnownSegment> known = {{"It is a dog.", "A dog.", 0.6, false},
                                           {"It is it.", "A dog.", 0.5, false},
                                           {"The cat barks.", "A dog.", 0.5, false},
                                           {"It is a dog, a dog.", "A dog.", 0.5, false}};
  TranslationRequest request = {.text = "A dog barks at the cat.", .look_up = memory(known)};
  EXPECT_EQ(translate(request).known, (std::vector{known[0], known[2]}));
  request.options.memory_segments = 1;
  EXPECT_EQ(translate(request).known, (std::vector{known[0]}));
}

TEST_F(KnownSegmentsTest, ALanguageModelHasNoMemory) {
  const ModelFolder folder("known-segments-lm", 40, true, {.size = 45, .shared = true}, {},
                           DecoderSelfAttention::attention, ModelKind::language_model);
  SavedModel model(folder.path, kernels_for(nullptr), 1);
  SteppedTranslator translator(model);
  translator.add(0, {.text = "The cat", .look_up = memory({})});
  EXPECT_NE(run_all(translator).at(0).error.find("memories"), std::string::npos);
}

}  // namespace
}  // namespace dragoman::internal
