#include "text/sentences.h"

#include <string>

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

using Parts = std::vector<std::pair<std::string, std::string>>;

Parts parts(std::string_view text) {
  Parts all;
  for (const SentencePart& part : split_sentences(text)) all.emplace_back(part.sentence, part.space);
  return all;
}

TEST(Sentences, KeepTheWhiteSpaceBetweenThem) {
  EXPECT_EQ(parts("One.  Two?\tThree!"), (Parts{{"One.", "  "}, {"Two?", "\t"}, {"Three!", ""}}));
  EXPECT_EQ(parts("  It costs 3.50 euros. Yes. "), (Parts{{"It costs 3.50 euros.", " "}, {"Yes.", " "}}));
  EXPECT_EQ(parts("Où ça ? Là-bas !"), (Parts{{"Où ça ?", " "}, {"Là-bas !", ""}}));
  EXPECT_EQ(parts("今日は。元気ですか？"), (Parts{{"今日は。", ""}, {"元気ですか？", ""}}));
  EXPECT_EQ(parts("今日は。\u3000元気ですか？"), (Parts{{"今日は。", "\u3000"}, {"元気ですか？", ""}}));
  EXPECT_EQ(parts("\u00a0One.\u00a0 Two?"), (Parts{{"One.", "\u00a0 "}, {"Two?", ""}}));
  EXPECT_EQ(parts("no end"), (Parts{{"no end", ""}}));
  EXPECT_TRUE(parts("").empty());
  EXPECT_TRUE(parts("   ").empty());
  EXPECT_TRUE(parts(" \u00a0\u3000").empty());
}

}  // namespace
}  // namespace dragoman::internal
