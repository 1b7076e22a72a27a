#include "search/queue/sentence_cache.h"

#include <set>

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

TEST(SentenceCache, KeepsTheLatestWithinItsBytes) {
  SentenceCache cache(10'000);
  const FoundSentence found = {.hypotheses = {{Hypothesis{.tokens = std::vector<int32_t>(50)}, {}}}};
  for (int i = 0; i < 100; ++i) {
    cache.add(std::to_string(i), found);
    EXPECT_LE(cache.bytes(), 10'000u);
    EXPECT_NE(cache.find("0"), nullptr);
    EXPECT_NE(cache.find(std::to_string(i)), nullptr);
  }
  EXPECT_EQ(cache.find("1"), nullptr);
  EXPECT_GT(cache.size(), 5u);
  cache.add("too long", {.hypotheses = {{Hypothesis{.tokens = std::vector<int32_t>(5000)}, {}}}});
  EXPECT_EQ(cache.find("too long"), nullptr);
}

TEST(SentenceKey, HasAllThatAResultDependsOn) {
  const SearchRequest first = {.source = {5, 6}};
  Shortlist shortlist;
  std::vector<SearchRequest> requests(14, first);
  requests[1].source = {5};
  requests[2].other_sources = {{5, 6}};
  requests[3].start.emplace(1);
  requests[4].prefix = {5};
  requests[5].forbidden = 0;
  requests[6].neighbours = {{.source = {5}, .target = {6}}};
  requests[7].neighbours = {{.source = {5}, .target = {7}}};
  requests[8].shortlist = &shortlist;
  requests[9].attention_layer = 1;
  requests[10].marks.end = 6;
  requests[11].marks.language = 5;
  requests[12].retry_ngram = 4;
  requests[13].start.emplace(2);
  std::vector<SearchOptions> options(20);
  options[0].beam = 2;
  options[1].nbest = 2;
  options[2].beam_ending = BeamEnding::top;
  options[3].length_penalty = 0.5;
  options[4].penalty_form = LengthPenalty::plain;
  options[5].length_offset = 1;
  options[6].max_length = 9;
  options[7].max_length_ratio = 2;
  options[8].forced_end = true;
  options[9].min_length = 1;
  options[10].min_length_ratio = 0.5;
  options[11].no_repeat_ngram = 3;
  options[12].repetition_penalty = 1.5;
  options[13].prefix_bias = 0.5;
  options[14].coverage_penalty = 0.5;
  options[15].sample = true;
  options[16].temperature = 0.5;
  options[17].top_k = 3;
  options[18].top_p = 0.5;
  options[19].seed = 2;
  for (const SearchOptions& one : options) requests.emplace_back(first).options = one;
  const SearchTerm term = {.begin = 0, .end = 1, .forms = {{.tokens = {7}}}};
  std::vector<SearchTerm> terms(5, term);
  terms[1].begin = 1;
  terms[2].end = 2;
  terms[3].forms[0].tokens = {8};
  terms[4].forms[0].preferred = false;
  for (const SearchTerm& one : terms) requests.emplace_back(first).terms.all = {one};
  requests.emplace_back(first).terms = {.all = {term}, .attention_layer = 1};
  std::set<std::string> keys;
  for (const SearchRequest& request : requests) keys.insert(sentence_key(request));
  EXPECT_EQ(keys.size(), requests.size());
  SearchRequest reported = first;
  reported.progress = true;
  EXPECT_EQ(sentence_key(reported), sentence_key(first));
}

}  // namespace
}  // namespace dragoman::internal
