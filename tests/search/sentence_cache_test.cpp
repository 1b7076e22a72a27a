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
  std::vector<SearchRequest> requests(12, first);
  requests[1].source = {5};
  requests[2].other_sources = {{5, 6}};
  requests[3].start.emplace(1);
  requests[4].prefix = {5};
  requests[5].forbidden = 0;
  requests[6].neighbours = {{.source = {5}, .target = {6}}};
  requests[7].options.beam = 2;
  requests[8].attention_layer = 1;
  requests[9].marks.end = 6;
  requests[10].marks.language = 5;
  requests[11].retry_ngram = 4;
  std::set<std::string> keys;
  for (const SearchRequest& request : requests) keys.insert(sentence_key(request));
  EXPECT_EQ(keys.size(), requests.size());
  SearchRequest reported = first;
  reported.progress = true;
  EXPECT_EQ(sentence_key(reported), sentence_key(first));
}

}  // namespace
}  // namespace dragoman::internal
