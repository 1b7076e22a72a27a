#include "base/json.h"
#include "search/given_terms.h"
#include "search/model_folder.h"
#include "search/stepped.h"
#include "text/term_marks.h"

namespace dragoman::internal {
namespace {

class SourceTermsTest : public testing::Test {
 protected:
  SourceTermsTest() : folder_("source_terms", 30) {
    const auto open = []() -> Sentences {
      return [next = size_t{0}]() mutable -> std::optional<std::string_view> {
        if (next == known_lines().size()) return std::nullopt;
        return known_lines()[next++];
      };
    };
    const auto vocabulary = std::make_shared<const Vocabulary>(
        learn_vocabulary_for_terms({.size = 45, .shared = true}, open, "shared"));
    write_vocabularies(folder_.path, {vocabulary, vocabulary});
    set_terms("terms.tsv");
  }

  // Makes the configuration say that the model was trained with terms.
  void set_terms(const std::string& file) {
    nlohmann::json config = read_config(folder_.path);
    config["recipe"]["data"]["terms"] = file;
    write_file(folder_.path + "/config.json", {config.dump()});
  }

  TranslatedLine translated(const std::string& text, const std::vector<GivenTerm>& terms) {
    SavedModel model(folder_.path, kernels_for("baseline"), 1);
    SteppedTranslator translator(model, {});
    translator.add(1, {.text = text, .terms = terms});
    for (;;) {
      for (TranslationResult& result : translator.step()) return std::move(result.line);
    }
  }

  const ModelFolder folder_;
};

TEST_F(SourceTermsTest, StandInTheSegmentThatHasThemWhole) {
  const SavedModel model(folder_.path, kernels_for("baseline"), 1);
  ASSERT_TRUE(model.readers[0].reads_terms);
  const Vocabulary& vocabulary = *model.vocabularies.source;
  const std::string line = "The cat sleeps.";
  std::vector<Segment> segments = split_line(model, line);
  ASSERT_EQ(segments.size(), 1u);
  const std::vector<int32_t> plain = segments[0].ids;
  const std::vector<std::vector<std::string>> targets = {{"dog", "dogs"}};
  EXPECT_EQ(add_to_sources({{{4, 7}, targets[0]}, {{5, 7}, {"inside"}}}, line, model, segments), targets);
  const TermMarks marks = *term_marks(vocabulary);
  const auto& ids = segments[0].ids;
  EXPECT_EQ(ids.size(), plain.size() + 3 + vocabulary.encode("dog").size());
  EXPECT_EQ(ids.size(), segments[0].spans.size());
  EXPECT_EQ(ids.back(), vocabulary.special().end);
  for (const int32_t mark : {marks.begin, marks.is, marks.end}) EXPECT_EQ(std::ranges::count(ids, mark), 1);
  EXPECT_EQ(vocabulary.decode(ids), "The cat dog sleeps.");
  const std::vector<int32_t> before = segments[0].ids;
  add_to_sources({{{0, 15}, {"dog dog dog dog dog dog dog dog dog dog dog dog"}}}, line, model, segments);
  EXPECT_EQ(segments[0].ids, before) << "it is too long";
}

TEST_F(SourceTermsTest, AreReadByModelsThatLearnedWithThemAlone) {
  const std::vector<GivenTerm> unspellable = {{{4, 7}, {"日本"}}};
  const std::string plain = translated("The cat sleeps.", unspellable).translations[0].text;
  EXPECT_TRUE(translated("The cat sleeps.", unspellable).terms_missed);
  EXPECT_FALSE(translated("The cat sleeps.", {{{4, 7}, {"日本", plain}}}).terms_missed);
  const std::string two_sentences = "The cat sleeps at home. Where is the station, and the dog?";
  EXPECT_TRUE(translated(two_sentences, {{{0, two_sentences.size()}, {"a"}}}).terms_missed);
  set_terms("");
  EXPECT_TRUE(translated("The cat sleeps.", unspellable).terms_missed);
}

}  // namespace
}  // namespace dragoman::internal
