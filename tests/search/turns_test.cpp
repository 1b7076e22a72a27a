// The order in which clients' requests begin.
#include "search/queue/turns.h"

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

TEST(Turns, GoByWhatClientsHaveHad) {
  Turns turns;
  EXPECT_EQ(turns.next(1, 10), 0);
  EXPECT_EQ(turns.next(1, 10), 10);
  EXPECT_EQ(turns.next(2, 5), 0);
  turns.reach(7);
  EXPECT_EQ(turns.next(2, 5), 7);
  EXPECT_EQ(turns.next(1, 10), 20);
  EXPECT_EQ(turns.next(3, 5), 7);
  for (uint64_t client = 4; client < 10'000; ++client) {
    turns.reach(turns.next(client, 1) + 1);
    EXPECT_GE(turns.next(client, 1), 8);
  }
}

TEST(Turns, OfManyClientsThoseThatHadTheLeastAreForgotten) {
  Turns turns;
  turns.next(1, 1e6);
  for (uint64_t client = 2; client < 10'000; ++client) {
    turns.reach(turns.next(client, 1 + static_cast<double>(client % 7)));
    ASSERT_LE(turns.clients(), 512u);
  }
  EXPECT_GE(turns.next(1, 1), 1e6) << "who has had most is remembered";
  EXPECT_LT(turns.next(10'001, 1), 1e6);
}

TEST(TurnQueue, HasTheFirstOfThoseThatMayBegin) {
  TurnQueue queue;
  const auto anyone = [](uint64_t) { return true; };
  EXPECT_EQ(queue.next(anyone), nullptr);
  const WaitingTurn first = {1, 10, 1}, second = {2, 11, 1}, other = {2, 9, 2};
  for (const WaitingTurn& turn : {second, other, first}) queue.add(turn);
  EXPECT_EQ(*queue.next(anyone), first);
  EXPECT_EQ(*queue.next([](uint64_t client) { return client == 2; }), other);
  EXPECT_EQ(queue.next([](uint64_t client) { return client == 3; }), nullptr);
  queue.remove(first);
  queue.remove(first);
  EXPECT_EQ(*queue.next(anyone), other) << "of equal turns the smaller id";
  queue.remove(other);
  queue.remove(second);
  EXPECT_EQ(queue.next(anyone), nullptr);
}

}  // namespace
}  // namespace dragoman::internal
