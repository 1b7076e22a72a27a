// The end of a product in bf16 alone, as no table asks for it where the product itself is not a GPU's: it gives what it
// gives for the same numbers in floats, rounded once.
#include <bit>
#include <vector>

#include "kernels/cuda/host/context.h"
#include "kernels/cuda/products.inl.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

struct BothWays {
  explicit BothWays(const std::vector<float>& values) {
    for (const float x : values) halves.push_back(rounded_to_bf16(x));
    for (const Bf16 x : halves) floats.push_back(widened(x));
  }
  std::vector<float> floats;
  std::vector<Bf16> halves;
};

std::vector<Bf16> rounded(const std::vector<float>& values) { return BothWays(values).halves; }

void expect_same_ends(int64_t rows, int64_t columns, Activation activation, float rate, bool scaled) {
  SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", activation "
                                  << static_cast<int>(activation) << ", dropout " << rate);
  HostGpuContext context(1);
  const auto size = static_cast<size_t>(rows * columns);
  BothWays c(random_floats(rows * columns, 1, -3, 3));
  const std::vector<float> bias = random_floats(columns, 2), scales = random_floats(columns, 3);
  std::vector<float> before(size);
  std::vector<Bf16> rounded_before(size);
  const std::vector<RowKey> keys(static_cast<size_t>(rows), RowKey{7, 8});
  const Dropout dropout = {.rate = rate, .key = {1, 2}, .rows = keys.data()};
  RowEnd end = {scaled ? scales.data() : nullptr, bias.data(), before.data(), activation};
  std::vector<float> floats = c.floats;
  finish_rows(context, {floats.data(), rows, columns, columns}, end, dropout);
  end.before_activation = nullptr;
  end.rounded_before_activation = rounded_before.data();
  finish_rows(context, {nullptr, rows, columns, columns, c.halves.data()}, end, dropout);
  EXPECT_EQ(c.halves, rounded(floats));
  EXPECT_EQ(rounded_before, rounded(before));
  for (size_t i = 0; i < size; ++i) {
    const auto column = i % static_cast<size_t>(columns);
    ASSERT_EQ(before[i], c.floats[i] * (scaled ? scales[column] : 1) + bias[column]);
    const float multiplier = dropout_multiplier_at(dropout_mask(dropout), 0, 0, static_cast<int64_t>(column));
    ASSERT_EQ(floats[i], activate(activation, before[i]) * multiplier);
  }
}

TEST(CudaFinishRows, InBf16AreThoseOfTheSameFloats) {
  for (const int64_t columns : {5, 64, 100, 512, 1088}) {
    for (const int64_t rows : {1, 3, 9}) {
      for (const float rate : {0.0F, 0.3F}) {
        expect_same_ends(rows, columns, Activation::relu, rate, rows == 3);
        expect_same_ends(rows, columns, Activation::swish, rate, rows == 1);
        expect_same_ends(rows, columns, Activation::none, rate, true);
      }
    }
  }
}

TEST(CudaFinishRows, ABiasInFloatsAloneIsNotForgotten) {
  HostGpuContext context(1);
  std::vector<Bf16> one = {rounded_to_bf16(1)}, sums = rounded({0, 0, 0, 0});
  const std::vector<float> bias = {1, -2, 3, -4};
  std::vector<Bf16> row = rounded({8, 16, 24, 32});
  rounded_multiply(context, {nullptr, 1, 1, 1, 1, one.data()}, {nullptr, 1, 4, 4, 1, row.data()},
                   {nullptr, 1, 4, 4, sums.data()}, {.bias = bias.data()});
  EXPECT_EQ(sums, rounded({9, 14, 27, 28}));
}

}  // namespace
}  // namespace dragoman::internal
