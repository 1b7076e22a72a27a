#include "data/clean/side_facts.h"

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

TEST(SideFacts, WordsAreOutsideOfMarkupAndAddresses) {
  for (const char* text : {"", " ", "12 % &nbsp;", "<b>", "<b></b> 1", "www.x.org", "<a href=\"x y\">",
                           "1 < 2 > 0", "<", "<>", "</", "> <", "&;"})
    EXPECT_FALSE(has_words(text)) << text;
  for (const char* text : {"a", "<b>a</b>", "<b a", "a > <b", "< b >", "> <b", "1<b", "&amp", "&amp;a"})
    EXPECT_TRUE(has_words(text)) << text;
}

// In quadratic time it would take minutes.
TEST(SideFacts, ManyTagsThatDoNotEndAreSeenAtOnce) {
  for (const std::string tag : {"<", "</"}) {
    std::string text;
    for (int i = 0; i < 2'000'000; ++i) text += tag;
    EXPECT_FALSE(has_words(text));
    EXPECT_FALSE(has_words(text + ">"));
    EXPECT_FALSE(has_words(">" + text));
  }
}

}  // namespace
}  // namespace dragoman::internal
