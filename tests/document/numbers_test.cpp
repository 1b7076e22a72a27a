#include "document/numbers.h"

#include <string>

#include <gtest/gtest.h>

#include "document/identity.h"

namespace dragoman::internal {
namespace {

std::vector<std::string> changed(const std::string& source, const std::string& translation) {
  std::vector<std::string> parts;
  for (const TextSpan span : changed_numbers(source, translation))
    parts.push_back(source.substr(span.begin, span.end - span.begin));
  return parts;
}

using Strings = std::vector<std::string>;

TEST(Numbers, SeparatorsAndWordsChangeNone) {
  EXPECT_EQ(changed("1,000.50 dollars and 37 cents", "1 000,50 dollars et 37 cents"), Strings{});
  EXPECT_EQ(changed("2,500,000", "2.500.000"), Strings{});
  EXPECT_EQ(changed("2 500 000", "2\u202F500\u202F000"), Strings{});
  EXPECT_EQ(changed("12 cats", "١٢ قطة"), Strings{});
  EXPECT_EQ(changed("I have 2 cats", "J'ai deux chats"), Strings{});
  EXPECT_EQ(changed("at 3 pm or 3:30 p.m.", "à 15 h ou 15 h 30"), Strings{});
}

TEST(Numbers, HoursAreOfHalfADayOrOfAWhole) {
  EXPECT_EQ(changed("à 15 h ou 15 h 30", "at 3 pm or 3:30 p.m."), Strings{});
  EXPECT_EQ(changed("2 cats at 3 pm", "deux chats à 15 h"), Strings{});
  EXPECT_EQ(changed("à 0 h", "at 12 am"), Strings{});
  EXPECT_EQ(changed("à 14 h", "at 3 pm"), Strings{"14"});
  EXPECT_EQ(changed("15 friends", "3 amis"), Strings{"15"});
  EXPECT_EQ(changed("3 pm or 15 h", "03 pm or 03 h"), Strings{});
}

TEST(Numbers, WhatIsNotThereIsChanged) {
  EXPECT_EQ(changed("37 cats and 12 dogs", "36 chats et 12 chiens"), Strings{"37"});
  EXPECT_EQ(changed("in 1984", "dans les années quatre-vingt"), Strings{"1984"});
  EXPECT_EQ(changed("3 cats", "2 chats"), Strings{"3"});
  EXPECT_EQ(changed("7 and 7", "7"), Strings{});
  EXPECT_EQ(changed("17 and 17", "17"), Strings{"17"});
  EXPECT_EQ(changed("1,250 items", "1.520 articles"), Strings{"1,250"});
}

TEST(Numbers, AreComparedInLinearTime) {
  constexpr size_t count = 300'000;
  const std::string ones = repeated("1 ", count);
  EXPECT_EQ(changed(ones, ones).size(), 0u);
  EXPECT_EQ(changed(repeated("5 ", count), repeated("6 ", count)).size(), count);
}

}  // namespace
}  // namespace dragoman::internal
