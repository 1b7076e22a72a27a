#include "search/queue/sentence_cache.h"

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

}  // namespace
}  // namespace dragoman::internal
