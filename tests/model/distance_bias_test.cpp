// The two biases by distance: T5's buckets against the numbers that its own code gives, ALiBi's slopes against its
// paper, and the tables that attention gets.
#include "nn/distance_bias.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

std::vector<int64_t> buckets(const std::vector<int64_t>& distances, bool both_directions, int64_t count,
                             int64_t max_distance) {
  std::vector<int64_t> found;
  for (const int64_t d : distances) found.push_back(t5_bucket(d, both_directions, count, max_distance));
  return found;
}

const std::vector<int64_t> distances = {-500, -128, -127, -64, -33, -32, -16, -15, -9, -8, -7,  -1,
                                        0,    1,    7,    8,   9,   15,  16,  32,  33, 64, 127, 500};

// By tests/golden/make_t5_golden.py, from transformers' T5Attention._relative_position_bucket.
TEST(T5Bucket, IsThatOfTransformers) {
  using Buckets = std::vector<int64_t>;
  EXPECT_EQ(buckets(distances, true, 32, 128), (Buckets{15, 15, 15, 14, 12, 12, 10, 9,  8,  8,  7,  1,
                                                        0,  17, 23, 24, 24, 25, 26, 28, 28, 30, 31, 31}));
  EXPECT_EQ(buckets(distances, false, 32, 128),
            (Buckets{31, 31, 31, 26, 21, 21, 16, 15, 9, 8, 7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(buckets(distances, true, 10, 20),
            (Buckets{4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 1, 0, 6, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9}));
}

TEST(AlibiSlopes, AreThoseOfThePaper) {
  EXPECT_EQ(alibi_slopes(8), (std::vector<double>{1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16, 1.0 / 32, 1.0 / 64,
                                                  1.0 / 128, 1.0 / 256}));
  const std::vector<double> sixteen = alibi_slopes(16), twelve = alibi_slopes(12);
  EXPECT_DOUBLE_EQ(sixteen[0], std::sqrt(0.5));
  // Of 12: those of 8, then the first, third, fifth and seventh of 16.
  for (size_t h = 0; h < 8; ++h) EXPECT_EQ(twelve[h], alibi_slopes(8)[h]);
  for (size_t h = 0; h < 4; ++h) EXPECT_EQ(twelve[8 + h], sixteen[2 * h]);
  EXPECT_EQ(alibi_slopes(1), std::vector<double>{1.0 / 256});
}

// Each row is minus the slope times its distance; a longer table has the same values by distance.
TEST(AlibiBias, FallsWithTheDistance) {
  Device device(*available_kernels().tables[0], 1);
  Pass pass{device};
  DistanceBias bias = DistanceBias::alibi(3);
  for (const int64_t keys : {1, 64, 65, 1000}) {
    const Tensor rows = bias.rows(pass, keys);
    ASSERT_EQ(rows.columns(), 3);
    const int64_t reach = (rows.rows() - 1) / 2;
    ASSERT_GE(reach, keys);
    for (const int64_t d : {-keys, int64_t{-1}, int64_t{0}, int64_t{1}, keys}) {
      for (int64_t h = 0; h < 3; ++h) {
        const double wanted = -alibi_slopes(3)[static_cast<size_t>(h)] * static_cast<double>(std::abs(d));
        EXPECT_FLOAT_EQ(rows.data()[(reach + d) * 3 + h], static_cast<float>(wanted)) << d;
      }
    }
  }
}

TEST(T5Bias, HasTheWeightsOfItsBuckets) {
  Device device(*available_kernels().tables[0], 1);
  Pass pass{device};
  const Tensor weights(device.pool, 8, 2);
  for (int i = 0; i < 16; ++i) weights.data()[i] = static_cast<float>(i);
  for (const bool both : {false, true}) {
    DistanceBias bias = DistanceBias::t5(weights, both, 12);
    const Tensor rows = bias.rows(pass, 100);
    ASSERT_EQ(rows.rows(), 25);
    for (int64_t d = -12; d <= 12; ++d)
      EXPECT_EQ(rows.data()[(12 + d) * 2 + 1], static_cast<float>(2 * t5_bucket(d, both, 8, 12) + 1)) << d;
  }
}

// What came before changes nothing: neither the size of a table, by which gradients are grouped, nor one in use.
TEST(T5Bias, DependsOnItsKeysAlone) {
  Device device(*available_kernels().tables[0], 1);
  Pass pass{device};
  const Tensor weights(device.pool, 8, 2);
  DistanceBias bias = DistanceBias::t5(weights, true, 100);
  EXPECT_EQ(bias.rows(pass, 10).rows(), 129);
  EXPECT_EQ(bias.rows(pass, 1000).rows(), 201);
  EXPECT_EQ(bias.rows(pass, 10).rows(), 129);
}

TEST(NoBias, IsNothing) {
  Device device(*available_kernels().tables[0], 1);
  Pass pass{device};
  EXPECT_FALSE(DistanceBias().rows(pass, 10));
  EXPECT_FALSE(DistanceBias().learns());
}

}  // namespace
}  // namespace dragoman::internal
