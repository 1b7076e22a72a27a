// Philox against Random123's published vectors, and what is drawn from it against what it promises.
#include "base/random.h"

#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

TEST(Philox, KnownAnswers) {  // kat_vectors of Random123, philox4x32 with 10 rounds
  using Words = std::array<uint32_t, 4>;
  constexpr uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Mix, EachBitOfBothCounts) {
  std::set<uint64_t> seen = {mix(0, uint64_t{0})};
  for (int bit = 0; bit < 64; ++bit) {
    seen.insert(mix(uint64_t{1} << bit, uint64_t{0}));
    seen.insert(mix(0, uint64_t{1} << bit));
  }
  EXPECT_EQ(seen.size(), 129U);
  EXPECT_NE(mix(1, uint64_t{2}), mix(2, uint64_t{1}));
}

TEST(Mix, TextsDiffer) {
  const std::string with_zero("a\0", 2);
  const std::set<uint64_t> seen = {mix(1, "a"), mix(1, "b"),  mix(1, "ab"),     mix(1, "ba"),
                                   mix(1, ""),  mix(2, "ab"), mix(1, with_zero)};
  EXPECT_EQ(seen.size(), 7U);
}

TEST(Random, TheSameKeyDrawsTheSame) {
  Random a(17), b(17), c(18);
  int differences = 0;
  for (int i = 0; i < 100; ++i) {
    const uint32_t word = a.word();
    EXPECT_EQ(word, b.word());
    differences += word != c.word() ? 1 : 0;
  }
  EXPECT_GT(differences, 95);
}

// A statistic of n draws is within five of its standard deviations.
TEST(Random, Moments) {
  Random random(1);
  constexpr int n = 20000;
  double uniform = 0, normal = 0, normal_squares = 0;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform(), z = random.normal();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    uniform += u;
    normal += z;
    normal_squares += z * z;
  }
  const double root = std::sqrt(double{n});
  EXPECT_NEAR(uniform / n, 0.5, 5 * std::sqrt(1.0 / 12) / root);
  EXPECT_NEAR(normal / n, 0, 5 / root);
  EXPECT_NEAR(normal_squares / n, 1, 5 * std::sqrt(2.0) / root);
}

TEST(Random, UniformKeepsItsBounds) {
  Random random(2);
  double low = 1, high = -1;
  for (int i = 0; i < 10000; ++i) {
    const double u = random.uniform(-0.25, 0.75);
    low = std::min(low, u);
    high = std::max(high, u);
  }
  EXPECT_GE(low, -0.25);
  EXPECT_LT(low, -0.24);
  EXPECT_LT(high, 0.75);
  EXPECT_GT(high, 0.74);
}

TEST(Random, BelowIsEven) {
  Random random(3);
  constexpr int n = 70000;
  std::vector<int> counts(7);
  for (int i = 0; i < n; ++i) ++counts.at(random.below(7));
  for (const int count : counts) EXPECT_NEAR(count, n / 7.0, 5 * std::sqrt(n / 7.0));
}

// With a bound of 3·2^62 a remainder of 64 bits would give the lowest third twice as often as the others.
TEST(Random, BelowHasNoBias) {
  Random random(4);
  constexpr int n = 6000;
  int lowest_third = 0;
  for (int i = 0; i < n; ++i) lowest_third += random.below(uint64_t{3} << 62) < uint64_t{1} << 62 ? 1 : 0;
  EXPECT_NEAR(lowest_third, n / 3.0, 5 * std::sqrt(n * 2.0 / 9));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(random.below(1), 0U);
}

}  // namespace
}  // namespace dragoman::internal
