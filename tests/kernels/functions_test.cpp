// The vector functions of the CPU kernels, as this file's own instruction set has them (the others are reached
// through the tables): Philox beside its published vectors, activations and their slopes beside double precision.
#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"
#include "kernels/cpu/functions.inl.h"
#include "kernels/cpu/random.inl.h"

namespace dragoman::internal {
namespace {

struct KnownAnswer {
  uint32_t counter[4], key[2], words[4];
};

// Random123's kat_vectors for philox4x32 with 10 rounds.
constexpr KnownAnswer known_answers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};

TEST(VectorPhilox, GivesTheKnownAnswers) {
  for (const KnownAnswer& known : known_answers) {
    const PhiloxState state =
        philox_words(known.counter[0], known.counter[1], known.counter[2], known.counter[3], known.key);
    const auto word = [&](int w, uint32_t lane) { return static_cast<uint32_t>(state.word[w][lane]); };
    for (int w = 0; w < 4; ++w) EXPECT_EQ(word(w, 0), known.words[w]);
    for (uint32_t lane = 0; lane < lanes / 2; ++lane) {
      const auto scalar =
          philox({known.counter[0] + lane, known.counter[1], known.counter[2], known.counter[3]},
                 {known.key[0], known.key[1]});
      for (int w = 0; w < 4; ++w) EXPECT_EQ(word(w, lane), scalar[static_cast<size_t>(w)]);
    }
  }
}

TEST(VectorPhilox, TheHeadEntersAboveThePair) {
  const DropoutMask mask = dropout_mask({.rate = 0.4f, .key = {8, 9}});
  float multipliers[dropout_block];
  dropout_multipliers(mask, {.pair = 0x300000005u, .position = 6}, 2, 1, multipliers);
  for (uint32_t column = 64; column < 128; ++column) {
    const auto words = philox({8 + column % 16 / 2, 6, 5, 3 ^ (2u << 16)}, {8, 9});
    const uint32_t word = words[column % 64 / 32 * 2 + column % 2];
    const uint32_t half = column % 32 < 16 ? word & 0xffff : word >> 16;
    EXPECT_EQ(multipliers[column - 64] != 0, half >= static_cast<uint32_t>(mask.threshold));
  }
}

TEST(Dropout, KeepsItsRateAndTheMean) {
  for (float rate : {0.1f, 0.3f}) {
    const DropoutMask mask = dropout_mask({.rate = rate, .key = {1, 2}});
    double sum = 0, dropped = 0;
    constexpr int rows = 2000;
    for (uint32_t row = 0; row < rows; ++row) {
      float values[dropout_block];
      for (float& v : values) v = 1;
      apply_dropout(mask, {.pair = row / 10, .position = row % 10}, 192, dropout_block, values);
      for (float v : values) sum += v, dropped += v == 0;
    }
    EXPECT_NEAR(dropped / (rows * dropout_block), rate, 0.005);
    EXPECT_NEAR(sum / (rows * dropout_block), 1, 0.006);
  }
}

double normal_probability(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu_tanh_of(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST(Functions, AreCloseToDoublePrecision) {
  for (float x = -20; x < 20; x += 0.001f) {
    const double phi = std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI), s = sigmoid(x);
    const double scale = std::max(1.0, std::abs(static_cast<double>(x)));
    ASSERT_NEAR(gelu(all(x))[0], x * normal_probability(x), 2e-7 * scale) << x;
    ASSERT_NEAR(gelu_slope(all(x))[0], normal_probability(x) + x * phi, 4e-7) << x;
    ASSERT_NEAR(swish(all(x))[0], x * s, 2e-7 * scale) << x;
    ASSERT_NEAR(swish_slope(all(x))[0], s * (1 + x * (1 - s)), 4e-7) << x;
    const double gate = sigmoid(1.702 * x), d = 1e-5;
    ASSERT_NEAR(gelu_sigmoid(all(x))[0], x * gate, 3e-7 * scale) << x;
    ASSERT_NEAR(gelu_sigmoid_slope(all(x))[0], gate * (1 + 1.702 * x * (1 - gate)), 6e-7) << x;
    ASSERT_NEAR(gelu_tanh(all(x))[0], gelu_tanh_of(x), 3e-7 * scale) << x;
    ASSERT_NEAR(gelu_tanh_slope(all(x))[0], (gelu_tanh_of(x + d) - gelu_tanh_of(x - d)) / (2 * d), 1e-6) << x;
    ASSERT_EQ(relu(all(x))[0], std::max(x, 0.0f));
  }
}

TEST(Functions, TheLogarithmIsCloseToDoublePrecision) {
  for (float x = 1e-37f; x < 1e38f; x *= 1.0013f) {
    const double ln = std::log(static_cast<double>(x));
    ASSERT_NEAR(logarithm(all(x))[0], ln, 1.3e-7 * std::abs(ln)) << x;
  }
}

TEST(Functions, GoToTheirLimits) {
  for (float x : {90.0f, 1e4f, 1e30f}) {
    EXPECT_EQ(gelu(all(x))[0], x);
    EXPECT_EQ(swish(all(x))[0], x);
    EXPECT_EQ(gelu_tanh(all(x))[0], x);
    EXPECT_EQ(gelu_sigmoid(all(x))[0], x);
    EXPECT_EQ(gelu_slope(all(x))[0], 1);
    EXPECT_EQ(swish_slope(all(x))[0], 1);
    EXPECT_EQ(gelu_tanh_slope(all(x))[0], 1);
    EXPECT_EQ(gelu_sigmoid_slope(all(x))[0], 1);
    EXPECT_EQ(gelu(all(-x))[0], 0);
    EXPECT_NEAR(swish(all(-x))[0], 0, 1e-7);
    EXPECT_NEAR(gelu_tanh(all(-x))[0], 0, 1e-7);
    EXPECT_NEAR(gelu_sigmoid(all(-x))[0], 0, 1e-7);
    EXPECT_EQ(gelu_slope(all(-x))[0], 0);
    EXPECT_NEAR(swish_slope(all(-x))[0], 0, 1e-7);
    EXPECT_NEAR(gelu_tanh_slope(all(-x))[0], 0, 1e-7);
    EXPECT_NEAR(gelu_sigmoid_slope(all(-x))[0], 0, 1e-7);
  }
}

}  // namespace
}  // namespace dragoman::internal
