#include "serve/translations/capacity.h"

#include <gtest/gtest.h>

#include "serve/fake_server.h"
#include "serve/route.h"

namespace dragoman::internal {
namespace {

TextWork text_of(size_t characters) { return {.text = std::string(characters, 'x')}; }

TEST(Capacity, HasRoomForSoManyTexts) {
  Capacity capacity(2, 1000);
  auto first = capacity.take(text_of(10));
  EXPECT_FALSE(capacity.refusal());
  const auto second = capacity.take(text_of(10));
  ASSERT_TRUE(capacity.refusal());
  EXPECT_GE(capacity.refusal()->seconds(), 1);
  EXPECT_THROW(capacity.take(text_of(1)), Overloaded);
  const auto copy = first;
  first.reset();
  EXPECT_TRUE(capacity.refusal()) << "a copy holds the room";
}

TEST(Capacity, HasRoomForSoManyCharacters) {
  Capacity capacity(10, 1000);
  std::vector<std::shared_ptr<void>> rooms;
  for (int i = 0; i < 4; ++i) rooms.push_back(capacity.take(text_of(225)));
  EXPECT_FALSE(capacity.refusal());
  EXPECT_THROW(capacity.take(text_of(101)), Overloaded);
  rooms.push_back(capacity.take(text_of(95)));
  capacity.take({.text = "ééééé"});
}

// They are neither refused as long as others are served, nor are others while they are.
TEST(Capacity, LargeTextsLeaveRoomForOthers) {
  Capacity capacity(8, 1000);
  const auto small = capacity.take(text_of(200));
  auto large = capacity.take(text_of(50'000));
  EXPECT_FALSE(capacity.refusal());
  const auto document = capacity.take({.text = std::string(5000, '\n'), .format = "txt"});
  EXPECT_FALSE(capacity.refusal());
  EXPECT_THROW(capacity.take(text_of(251)), Overloaded) << "a third";
  const auto other = capacity.take(text_of(250));
  large.reset();
  capacity.take(text_of(251));
}

TEST(Capacity, LinesCountAsTexts) {
  Capacity capacity(8, 1000);
  const auto lines = capacity.take({.text = "a\r\n\r\n\nb\n\n"});
  std::vector<TextWork> five(5, text_of(1)), seven(7, text_of(1));
  EXPECT_THROW(capacity.reserve(seven), Overloaded);
  capacity.reserve(five);
  EXPECT_FALSE(capacity.refusal());
  const auto last = capacity.take({.text = "\n\n"});
  EXPECT_TRUE(capacity.refusal()) << "a text without any line counts as one";
}

TEST(Capacity, AListHasRoomAsAWhole) {
  Capacity capacity(3, 1000);
  std::vector<TextWork> two(2, text_of(1)), more = two, four(4, text_of(1));
  capacity.reserve(two);
  EXPECT_THROW(capacity.reserve(more), Overloaded);
  EXPECT_FALSE(more[0].room);
  EXPECT_FALSE(capacity.refusal()) << "what was refused holds no room";
  two[0].room.reset();
  capacity.reserve(more);
  try {
    capacity.reserve(four);
    ADD_FAILURE() << "it was accepted";
  } catch (const ServeError& error) {
    EXPECT_EQ(error.status(), 413) << "asking again would not help";
  }
}

TEST(Capacity, IsWantedForScoresAndInspections) {
  FakeServer server;
  server.routes = v1_routes(server.context);
  server.translations.full = true;
  const nlohmann::json pairs = {{{"source", "a"}, {"target", "b"}}};
  EXPECT_EQ(server.post("/v1/score", {{"pairs", pairs}, {"from", "en"}, {"to", "fr"}})->response.status, 503);
  EXPECT_EQ(server.post("/v1/inspect", {{"text", "a"}, {"from", "en"}, {"to", "fr"}})->response.status, 503);
}

}  // namespace
}  // namespace dragoman::internal
