// Language models: they look at no source, and continue a text as they would have written it.
#include <algorithm>

#include "model/small_models.h"
#include "search/score.h"
#include "search/stepped.h"
#include "text/special_ids.h"

namespace dragoman::internal {
namespace {

class LanguageModels : public testing::TestWithParam<ModelCase> {
 protected:
  static std::vector<SearchOptions> options() {
    return {{.beam = 1, .max_length = 9, .max_length_ratio = 0},
            {.beam = 4, .nbest = 3, .max_length = 9, .max_length_ratio = 0},
            {.nbest = 2, .max_length = 9, .max_length_ratio = 0, .sample = true, .top_k = 7, .seed = 4}};
  }

  // Without the vocabulary's special tokens.
  static std::vector<Sentence> texts() {
    std::vector<Sentence> all = random_sentences(7, 26, 8, 3);
    for (Sentence& text : all)
      for (int32_t& id : text) id += 3;
    return all;
  }

  SmallModel small_{GetParam().named.config, *GetParam().kernels, 2};
  const std::vector<Sentence> texts_ = texts();
};

TEST_P(LanguageModels, ScoresDoNotDependOnASource) {
  const PackedSide none = packed_side(std::vector<Sentence>(texts_.size())), texts = packed_side(texts_);
  EXPECT_EQ(score_pairs(small_.model, none, texts, bos_id, eos_id),
            score_pairs(small_.model, texts, texts, bos_id, eos_id));
}

TEST_P(LanguageModels, OutputsBeginWithTheTextAndAreThoseOfAnyBatch) {
  for (const SearchOptions& options : LanguageModels::options()) {
    const FoundHypotheses together = search_all(small_.model, packed_side(texts_), options, {.sentences = 3});
    for (size_t i = 0; i < texts_.size(); ++i) {
      const FoundHypotheses alone = search_all(small_.model, packed_side({texts_[i]}), options, {});
      ASSERT_EQ(alone[0].size(), together[i].size());
      for (size_t n = 0; n < alone[0].size(); ++n) {
        EXPECT_EQ(alone[0][n].tokens, together[i][n].tokens);
        EXPECT_EQ(alone[0][n].score, together[i][n].score);
        EXPECT_TRUE(std::ranges::equal(texts_[i], std::span(alone[0][n].tokens).first(texts_[i].size())));
      }
    }
  }
}

// Greedy search from the beginning goes on from each of its own beginnings in the same way.
TEST_P(LanguageModels, ItsOwnTextIsContinuedAsItWas) {
  const SearchOptions options = {.beam = 1, .max_length = 12, .max_length_ratio = 0};
  const Sentence whole = search_all(small_.model, packed_side({texts_[1]}), options, {})[0][0].tokens;
  ASSERT_GT(whole.size(), texts_[1].size() + 3);
  const size_t written = whole.size() - texts_[1].size();
  for (size_t more = 1; more < written; ++more) {
    const Sentence beginning(whole.begin(),
                             whole.begin() + static_cast<std::ptrdiff_t>(texts_[1].size() + more));
    SearchOptions rest = options;
    rest.max_length -= static_cast<int64_t>(more);
    EXPECT_EQ(search_all(small_.model, packed_side({beginning}), rest, {})[0][0].tokens, whole) << more;
  }
}

// A score without a length penalty is the sum of what both say of each token and of the end.
TEST_P(LanguageModels, FusedScoresAreSums) {
  constexpr double weight = 0.7;
  ModelConfig config = small_configs()[0].config;
  config.target_vocabulary = small_.model.config.target_vocabulary;
  Transformer translating(config, small_.device, Buffers::weights);
  translating.parameters.initialise(7);
  const Sentence source = {5, 3, 9};
  Search search({&translating}, {}, {&small_.model, weight});
  search.add(
      1, {.source = source,
          .options = {.beam = 4, .nbest = 4, .length_penalty = 0, .max_length = 9, .max_length_ratio = 0}});
  std::vector<SearchResult> results;
  while (search.busy()) results = search.step();
  ASSERT_EQ(results.size(), 1U);
  ASSERT_EQ(results[0].found.hypotheses.size(), 4U);
  for (const auto& [hypothesis, attention] : results[0].found.hypotheses) {
    const PackedSide output = packed_side({hypothesis.tokens});
    const auto of_model = score_pairs(translating, packed_side({source}), output, bos_id, eos_id)[0],
               of_language = score_pairs(small_.model, packed_side({Sentence()}), output, bos_id, eos_id)[0];
    double sum = 0;
    for (size_t t = 0; t < of_model.size(); ++t) sum += double{of_model[t]} + weight * double{of_language[t]};
    EXPECT_NEAR(hypothesis.score, sum, 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(On, LanguageModels, testing::ValuesIn(model_cases(small_language_models())),
                         model_case_name);

}  // namespace
}  // namespace dragoman::internal
