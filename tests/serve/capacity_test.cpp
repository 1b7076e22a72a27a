#include "serve/capacity.h"

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

TEST(Capacity, HasRoomForSoManyTexts) {
  Capacity capacity(2, 1000);
  auto first = capacity.take(10);
  EXPECT_FALSE(capacity.refusal());
  const auto second = capacity.take(10);
  ASSERT_TRUE(capacity.refusal());
  EXPECT_GE(capacity.refusal()->seconds(), 1);
  EXPECT_THROW(capacity.take(1), Overloaded);
  const auto copy = first;
  first.reset();
  EXPECT_TRUE(capacity.refusal()) << "a copy holds the room";
}

TEST(Capacity, HasRoomForSoManyCharactersAndForAnyTextAlone) {
  Capacity capacity(10, 1000);
  auto large = capacity.take(5000);
  EXPECT_TRUE(capacity.refusal());
  large.reset();
  const auto some = capacity.take(900);
  EXPECT_FALSE(capacity.refusal());
  EXPECT_THROW(capacity.take(101), Overloaded);
  capacity.take(100);
}

}  // namespace
}  // namespace dragoman::internal
