#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman::internal {
namespace {

template <typename Failure, typename Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "nothing was thrown";
}

TEST(Check, NamesPlaceConditionAndShapes) {
  const int columns = 3, rows = 4;
  const std::string message =
      message_of<BrokenInvariant>([&] { CHECK(columns == rows, "product of {} and {}", columns, rows); });
  EXPECT_NE(message.find("tests/base/errors_test.cpp:"), std::string::npos) << message;
  EXPECT_NE(message.find("CHECK(columns == rows) failed: product of 3 and 4"), std::string::npos) << message;
}

TEST(Check, WorksWithoutMessageAndInAnElse) {
  const bool holds = true;
  if (holds)
    CHECK(holds);
  else
    CHECK(!holds);
  EXPECT_THROW(CHECK(!holds), BrokenInvariant);
}

TEST(Check, EvaluatesItsConditionOnceAndItsMessageOnlyOnFailure) {
  int conditions = 0, messages = 0;
  CHECK(++conditions == 1, "{}", ++messages);
  EXPECT_EQ(conditions, 1);
  EXPECT_EQ(messages, 0);
}

TEST(Error, FormatsValuesButTakesALoneTextAsItIs) {
  EXPECT_STREQ(Error("line {} of {}", 3, "x").what(), "line 3 of x");
  EXPECT_STREQ(Error(std::string("{}")).what(), "{}");
  EXPECT_STREQ(UsageError("a {}", 1).what(), "a 1");
}

TEST(Error, AUsageErrorIsAnErrorAndAFaultOfOursIsNot) {
  EXPECT_THROW(throw UsageError("x"), Error);
  EXPECT_FALSE((std::is_base_of_v<Error, BrokenInvariant>));
}

}  // namespace
}  // namespace dragoman::internal
