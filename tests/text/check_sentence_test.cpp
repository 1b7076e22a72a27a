#include "text/check_sentence.h"

#include <gtest/gtest.h>

#include "text/sentence_rules.h"

namespace dragoman::internal {
namespace {

TEST(CheckSentence, IsInTheLanguageHoweverItIsWritten) {
  for (const char* code : {"de", "deu", "deu_Latn", "de_DE", "__de__"})
    EXPECT_EQ(check_sentence(code), "Das ist ein Test.") << code;
  for (const char* code : {"", "en", "xx", "gem", "../etc/passwd", "__"})
    EXPECT_EQ(check_sentence(code), "This is a test.") << code;
}

TEST(CheckSentence, EveryLanguageWithRulesHasOne) {
  for (const std::string& language : languages_with_sentence_rules()) {
    if (language == "en" || language == "any") continue;
    EXPECT_NE(check_sentence(language), "This is a test.") << language;
  }
}

}  // namespace
}  // namespace dragoman::internal
