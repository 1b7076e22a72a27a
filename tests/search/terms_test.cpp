// Terms: each comes out once, as whole words, whatever the model is and the options are, and where the attention is.
#include <map>
#include <set>

#include "base/error.h"
#include "search/beam/term_beam.h"
#include "search/given_terms.h"
#include "search/model_folder.h"
#include "search/random_requests.h"
#include "search/stepped.h"
#include "text/scripts.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// How often words stand in a text by themselves.
size_t count_words(const std::string& text, const std::string& words) {
  const std::u32string in = code_points(text), of = code_points(words);
  const auto is_word = [&](size_t i) { return i < in.size() && is_of_spaced_word(in[i]); };
  size_t count = 0;
  for (size_t at = in.find(of); at != in.npos; at = in.find(of, at + 1))
    if ((at == 0 || !is_word(at - 1)) && !is_word(at + of.size())) ++count;
  return count;
}

size_t count_any(const std::string& text, const GivenTerm& term) {
  size_t count = 0;
  for (const std::string& target : term.targets) count += count_words(text, target);
  return count;
}

struct ModelCase {
  const char* name;
  VocabularyConfig words;
  DecoderSelfAttention self_attention = DecoderSelfAttention::attention;
};

void PrintTo(const ModelCase& c, std::ostream* out) { *out << c.name; }

// Models with random weights write anything at all.
class TermsTest : public testing::TestWithParam<ModelCase> {
 protected:
  TranslationResult translate(const TranslationRequest& request) {
    SteppedTranslator translator(model_);
    translator.add(0, request);
    std::vector<TranslationResult> results;
    while (results.empty()) results = translator.step();
    return std::move(results[0]);
  }

  const ModelFolder folder_{"terms", 16, true, GetParam().words, {}, GetParam().self_attention};
  SavedModel model_{folder_.path, kernels_for(nullptr), 2};
};

const std::vector<std::string> targets = {"sleeps home", "station", "Where dogs go", "barks", "the cold"};

TEST_P(TermsTest, EachComesOutOnceAsWholeWords) {
  RandomRequests random(5, 40);
  const std::string text = "The cat sleeps. It is cold, and we go home.";
  for (int i = 0; i < 60; ++i) {
    TranslationRequest request = {.text = text, .options = random.options()};
    request.options.max_length = 40 + random.below(30);
    request.options.max_length_ratio = 3;
    request.options.min_length = 0;
    request.options.no_repeat_ngram = 0;  // may leave no way to end a word
    if (random.one_in(3)) request.options.beam_ending = BeamEnding::separate;
    if (random.one_in(4)) request.options.split_sentences = "en";
    if (random.one_in(4)) request.prefix = "A dog";
    if (request.options.sample) request.options.beam_ending = BeamEnding::shared;
    std::set<std::string> used;
    for (const TextSpan span : {TextSpan{0, 3}, {8, 14}, {22, 26}, {38, 42}}) {
      const std::string& target = targets[static_cast<size_t>(random.below(std::ssize(targets)))];
      if (random.one_in(2) || !used.insert(target).second) continue;
      request.terms.push_back({span, {target}});
    }
    const TranslationResult result = translate(request);
    EXPECT_FALSE(result.line.terms_missed);
    for (const GivenTerm& term : request.terms)
      EXPECT_EQ(count_any(result.line.translations[0].text, term), 1U)
          << term.targets[0] << " in " << result.line.translations[0].text << " beam "
          << request.options.beam;
  }
}

TEST_P(TermsTest, TheSameTermComesOutForEachOccurrence) {
  for (const int64_t beam : {1, 2, 4}) {
    const TranslationResult result =
        translate({.text = "A cat, a cat, a cat.",
                   .terms = {{{2, 5}, {"station"}}, {{9, 12}, {"station"}}, {{16, 19}, {"station"}}},
                   .options = {.beam = beam}});
    EXPECT_FALSE(result.line.terms_missed);
    EXPECT_EQ(count_words(result.line.translations[0].text, "station"), 3U);
  }
}

// Of a source of four tokens and an end mark, the second is a term.
TEST(FoundSentence, CoversWhatIsNotATerm) {
  constexpr int32_t end = 2;
  SearchRequest request = {.source = {5, 6, 7, 8, end},
                           .terms = {.all = {{.begin = 1, .end = 2}}},
                           .options = {.coverage_penalty = 1},
                           .attention_layer = 1,
                           .marks = {.end = end}};
  const auto hypothesis = [](int32_t token, double score, std::vector<float> attention, bool missed = false) {
    Hypothesis h = {.tokens = {token}, .score = score};
    h.terms.states.resize(1);
    h.terms.begun = missed ? 0 : 1;
    h.attention = {std::make_shared<const std::vector<float>>(std::move(attention))};
    return h;
  };
  const auto order = [&](std::vector<Hypothesis> finished) {
    std::vector<int32_t> tokens;
    for (const auto& found : found_sentence(std::move(finished), request, 9).hypotheses)
      tokens.push_back(found.hypothesis.tokens[0]);
    return tokens;
  };
  // The third leaves out the last word, the first repeats the term.
  EXPECT_EQ(
      order({hypothesis(1, -1, {0.1F, 0.7F, 0.1F, 0.1F, 0}), hypothesis(2, -1.2, {0.3F, 0, 0.3F, 0.3F, 0.1F}),
             hypothesis(3, -1.1, {0.4F, 0, 0.4F, 0.01F, 0.19F}),
             hypothesis(4, -0.1, {0.3F, 0, 0.3F, 0.3F, 0.1F}, true)}),
      (std::vector<int32_t>{2, 3, 1, 4}));
}

// As the option does. Outputs as short as these cannot attend to all of the source.
TEST_P(TermsTest, TurnTheRankingByCoverageOn) {
  const auto best = [&](bool with_term, SearchOptions options) {
    options.max_length = 5;
    TranslationRequest request = {.text = "It is cold", .options = options};
    if (with_term) request.terms = {{{6, 10}, {"dog"}}};
    return translate(request).line.translations[0];
  };
  const Translation ranked = best(true, {.beam = 4}), unranked = best(false, {.beam = 4});
  EXPECT_EQ(ranked.score, best(true, {.beam = 4, .coverage_penalty = term_coverage}).score);
  EXPECT_EQ(ranked.text, best(true, {.beam = 4, .coverage_penalty = term_coverage}).text);
  EXPECT_NE(ranked.score, best(true, {.beam = 4, .coverage_penalty = 2 * term_coverage}).score)
      << "one that is given stays";
  EXPECT_NE(unranked.score, best(false, {.beam = 4, .coverage_penalty = term_coverage}).score);
}

TEST_P(TermsTest, OneOfTheTargetsComesOut) {
  const GivenTerm term = {{2, 5}, {"dog", "dogs", "station"}};
  for (const int64_t beam : {1, 5}) {
    const auto result = translate({.text = "A cat.", .terms = {term}, .options = {.beam = beam}});
    EXPECT_EQ(count_any(result.line.translations[0].text, term), 1U);
  }
}

TEST_P(TermsTest, OfThoseThatOverlapTheLeftmostLongestCounts) {
  const auto result = translate({.text = "The cat sleeps.",
                                 .terms = {{{4, 14}, {"barks"}}, {{0, 7}, {"station"}}, {{0, 3}, {"cold"}}}});
  const std::string& text = result.line.translations[0].text;
  EXPECT_FALSE(result.line.terms_missed);
  EXPECT_EQ(count_words(text, "station"), 1U);
}

// What cannot be met changes nothing else.
TEST_P(TermsTest, OneThatCannotBeWrittenIsSaidToBeMissing) {
  const TranslationRequest plain = {.text = "The cat sleeps.", .options = {.max_length = 9}};
  const auto without = translate(plain);
  for (const std::string target : {"Ж", "a station where dogs and cats sleep and go home"}) {
    if (target == "Ж" && GetParam().words.byte_fallback) continue;
    TranslationRequest request = plain;
    request.terms = {{{4, 7}, {target}}};
    const auto result = translate(request);
    EXPECT_TRUE(result.line.terms_missed);
    EXPECT_EQ(result.line.translations[0].text, without.line.translations[0].text);
    request.terms.push_back({{0, 3}, {"we"}});
    EXPECT_EQ(count_words(translate(request).line.translations[0].text, "we"), 1U);
  }
}

TEST_P(TermsTest, WithEnoughRoomOutputsEndByThemselves) {
  const auto result = translate({.text = "The cat sleeps.",
                                 .terms = {{{4, 7}, {"station"}}},
                                 .options = {.beam = 4, .max_length_ratio = 0}});
  EXPECT_FALSE(result.line.terms_missed);
}

std::vector<ModelCase> model_kinds() {
  return {{"bpe", {.size = 60, .shared = true}},
          {"bytes", {.size = 300, .shared = true, .byte_fallback = true}},
          {"characters", {.kind = PieceKind::characters, .size = 60, .shared = true}},
          {"unigram", {.kind = PieceKind::unigram, .size = 60, .shared = true}},
          {"ssru", {.size = 60, .shared = true}, DecoderSelfAttention::ssru}};
}

INSTANTIATE_TEST_SUITE_P(Of, TermsTest, testing::ValuesIn(model_kinds()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace dragoman::internal
