// Searches side by side: they find what one search finds, and share its weights.
#include "search/searches.h"

#include <limits>
#include <map>

#include "base/error.h"
#include "model/decoding_weights.h"
#include "model/small_models.h"
#include "search/random_requests.h"
#include "search/stepped.h"

namespace dragoman::internal {
namespace {

using HypothesesById = std::map<uint64_t, std::vector<Hypothesis>>;

class SearchesTest : public testing::Test {
 protected:
  template <class Searching>
  HypothesesById results_of(Searching& search) const {
    HypothesesById results;
    for (size_t i = 0; i < sources_.size(); ++i) search.add(i, {.source = sources_[i], .options = options_});
    while (search.busy()) {
      for (RequestResult& result : search.step()) {
        EXPECT_FALSE(results.contains(result.id));
        results[result.id] = std::move(result.hypotheses);
      }
    }
    return results;
  }
  HypothesesById searched(int searches, const SearchSettings& settings) {
    SteppedSearches search({&small_.model}, settings, searches);
    return results_of(search);
  }

  SearchOptions options_ = {.beam = 3, .nbest = 2, .max_length = 12};
  SmallModel small_{small_configs()[0].config, kernels_for(nullptr), 2};
  const std::vector<Sentence> sources_ = random_sentences(60, small_.model.config.source_vocabulary, 20, 1);
};

void expect_same(const HypothesesById& got, const HypothesesById& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (const auto& [id, hypotheses] : wanted) {
    ASSERT_EQ(got.at(id).size(), hypotheses.size());
    for (size_t i = 0; i < hypotheses.size(); ++i) {
      EXPECT_EQ(got.at(id)[i].tokens, hypotheses[i].tokens) << id;
      EXPECT_EQ(got.at(id)[i].score, hypotheses[i].score) << id;
    }
  }
}

TEST_F(SearchesTest, FindWhatOneSearchFinds) {
  for (const bool rounded : {false, true}) {
    if (rounded) quantize_weights(small_.device, small_.model.parameters, Precision::int8);
    for (const bool sample : {false, true}) {
      options_.sample = sample;
      QueuedSearch alone({&small_.model}, {.sentences = 5});
      const HypothesesById wanted = results_of(alone);
      for (const int searches : {1, 2, 3, 7})
        for (const int64_t sentences : {1, 4, 32})
          expect_same(searched(searches, {.sentences = sentences}), wanted);
    }
  }
}

TEST_F(SearchesTest, SayWhatWasAttendedTo) {
  QueuedSearch alone({&small_.model}, {.sentences = 3});
  SteppedSearches several({&small_.model}, {.sentences = 3}, 3);
  std::map<uint64_t, std::vector<AttentionRows>> wanted, got;
  for (uint64_t i = 0; i < 9; ++i) {
    const SearchRequest request = {.source = sources_[i], .options = options_, .attention_layer = 1};
    alone.add(i, request);
    several.add(i, request);
  }
  while (alone.busy())
    for (const RequestResult& result : alone.step()) wanted[result.id] = result.attention;
  while (several.busy())
    for (const RequestResult& result : several.step()) got[result.id] = result.attention;
  EXPECT_EQ(wanted.at(8).size(), 2U);
  EXPECT_EQ(got, wanted);
}

// One that is left while it works ends with the step that it is in.
TEST_F(SearchesTest, MayBeLeftAtAnyTime) {
  for (const int steps : {0, 1, 2, 5}) {
    SteppedSearches search({&small_.model}, {.sentences = 4}, 4);
    for (uint64_t i = 0; i < 16; ++i) search.add(i, {.source = sources_[i], .options = options_});
    for (int i = 0; i < steps; ++i) search.step();
  }
  expect_same(searched(2, {.sentences = 4}), searched(1, {.sentences = 4}));
}

TEST_F(SearchesTest, NonFiniteValuesFailRequestsOfEverySearch) {
  for (const Parameter& parameter : small_.model.parameters.list()) {
    if (parameter.role == Role::plain) parameter.value.data()[0] = std::numeric_limits<float>::quiet_NaN();
  }
  SteppedSearches search({&small_.model}, {.sentences = 2}, 3);
  for (uint64_t i = 0; i < 6; ++i)
    search.add(i, {.source = sources_[i], .options = options_, .attention_layer = 1});
  size_t failed = 0;
  while (search.busy()) {
    for (const RequestResult& result : search.step()) failed += result.status == SearchStatus::failed;
  }
  EXPECT_EQ(failed, 6U);
}

// Between two steps of the first one, whether it has a thread of its own or not.
TEST_F(SearchesTest, TasksMayUseTheModels) {
  const auto searched_alone = [&] {
    QueuedSearch alone({&small_.model}, {.sentences = 1});
    alone.add(0, {.source = sources_[0], .options = options_});
    HypothesesById results;
    while (alone.busy())
      for (RequestResult& result : alone.step()) results[0] = std::move(result.hypotheses);
    return results;
  };
  const HypothesesById wanted = searched_alone(), all = searched(1, {.sentences = 5});
  SteppedSearches search({&small_.model}, {.sentences = 4}, 3);
  HypothesesById results;
  for (size_t i = 0; i < sources_.size(); ++i) search.add(i, {.source = sources_[i], .options = options_});
  while (search.busy()) {
    for (RequestResult& result : search.step()) results[result.id] = std::move(result.hypotheses);
    search.run([&] { expect_same(searched_alone(), wanted); });
  }
  expect_same(results, all);
  search.run([&] { expect_same(searched_alone(), wanted); });
}

// What a search refuses ends its own job alone, what a step throws all jobs that had a sentence in it.
TEST_F(SearchesTest, AnErrorEndsTheJobsThatItConcerns) {
  const Models three(3, &small_.model);
  const auto finishes = [&](SteppedSearches& search, uint64_t id, const SearchRequest& request) {
    search.add(id, request);
    const auto results = run(search);
    return results.at(id).status == SearchStatus::finished;
  };
  const SearchRequest sound = {.source = sources_[0], .options = {.beam = 1, .max_length = 12}};
  SearchRequest unreadable = sound;
  unreadable.other_sources = {sources_[1]};  // of two other models
  for (const int searches : {1, 2}) {
    SteppedSearches search(three, {.sentences = 4}, searches);
    search.add(0, {.source = {}});
    EXPECT_TRUE(finishes(search, 1, sound));
    for (uint64_t round = 2; round < 10; round += 2) {
      EXPECT_FALSE(finishes(search, round, unreadable));
      EXPECT_TRUE(finishes(search, round + 1, sound));
    }
    EXPECT_EQ(search.sentences_under_way(), 0);
  }
}

}  // namespace
}  // namespace dragoman::internal
