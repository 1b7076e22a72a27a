// Positions of words and pieces in a text.
#include "text/spans.h"

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

using Spans = std::vector<TextSpan>;

TEST(TextSpans, WordsAreCountedInCodePoints) {
  EXPECT_EQ(word_spans(" là\u00A0 œuvre\n"), (Spans{{1, 3}, {5, 10}}));
  EXPECT_TRUE(word_spans(" \t").empty());
}

TEST(TextSpans, BytesBecomeCodePointsWithoutWhiteSpace) {
  // à is two bytes, the wide space three.
  EXPECT_EQ(in_code_points("là\u3000b c", {{0, 3}, {3, 7}, {7, 9}, {3, 6}, {9, 9}}),
            (Spans{{0, 2}, {3, 4}, {5, 6}, {3, 3}, {6, 6}}));
}

TEST(TextSpans, TheFirstWordThatASpanTouches) {
  const Spans words = {{1, 3}, {5, 10}, {10, 12}};
  EXPECT_EQ(word_at(words, {0, 1}), -1);
  EXPECT_EQ(word_at(words, {0, 2}), 0);
  EXPECT_EQ(word_at(words, {3, 5}), -1);
  EXPECT_EQ(word_at(words, {3, 11}), 1);
  EXPECT_EQ(word_at(words, {10, 11}), 2);
  EXPECT_EQ(word_at(words, {6, 6}), -1);
  EXPECT_EQ(word_at(words, {12, 20}), -1);
}

}  // namespace
}  // namespace dragoman::internal
