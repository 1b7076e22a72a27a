// Products with weights in low precision on every table: near those with floats, in whole and of some columns alone.
#include "kernels/low_precision.h"

#include <cmath>

#include "ops/products.h"
#include "tensor/array.h"
#include "tensor/device.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

constexpr int64_t rows = 5, inner = 37, columns = 50;

class LowPrecision : public testing::TestWithParam<const Kernels*> {
 protected:
  // b in this precision, on the device.
  struct Weights {
    Array<unsigned char> data;
    Array<float> scales;
    LowPrecisionMatrix matrix;
  };
  Weights weights(Precision precision) {
    std::vector<unsigned char> bytes(static_cast<size_t>(low_precision_size(precision, inner, columns)) + 64);
    auto* const aligned = bytes.data() + 63 - (reinterpret_cast<uintptr_t>(bytes.data()) + 63) % 64;
    std::vector<float> scales(columns, 1);
    CpuContext host(1);
    to_low_precision(host, precision, {b_.data(), inner, columns, columns}, aligned, scales.data());
    const auto size = static_cast<size_t>(low_precision_size(precision, inner, columns));
    Weights w = {Array<unsigned char>(device_.pool, std::span<const unsigned char>(aligned, size)),
                 Array<float>(device_.pool, std::span<const float>(scales)),
                 {}};
    w.matrix = {precision, w.data.data(), w.scales.data(), inner, columns};
    return w;
  }

  std::vector<float> product(const LowPrecisionMatrix& b, const Array<float>& bias) {
    const Array<float> a(device_.pool, a_);
    const Array<float> c(device_.pool, rows * b.columns);
    const auto& kernels = device_.kernels.low_precision;
    (b.precision == Precision::int8 ? kernels.int8 : kernels.bf16)(
        device_.context, {a.data(), rows, inner, inner}, b, {c.data(), rows, b.columns, b.columns},
        {.bias = bias.data(), .activation = Activation::relu});
    return c.download();
  }

  Device device_{*GetParam(), 1};
  const std::vector<float> a_ = random_floats(rows * inner, 1), b_ = random_floats(inner * columns, 2, -3, 3),
                           bias_ = random_floats(columns, 3);
};

TEST_P(LowPrecision, ProductsAreNearThoseOfFloats) {
  for (const Precision precision : {Precision::int8, Precision::bf16}) {
    const Weights w = weights(precision);
    const std::vector<float> c = product(w.matrix, Array<float>(device_.pool, std::span<const float>(bias_)));
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        double sum = static_cast<double>(bias_[static_cast<size_t>(j)]);
        for (int64_t k = 0; k < inner; ++k)
          sum += static_cast<double>(a_[static_cast<size_t>(i * inner + k)]) *
                 static_cast<double>(b_[static_cast<size_t>(k * columns + j)]);
        EXPECT_NEAR(c[static_cast<size_t>(i * columns + j)], std::max(sum, 0.0), 0.15) << i << ", " << j;
      }
    }
  }
}

// A GPU keeps weights in bf16 in rows, from the first product on.
TEST_P(LowPrecision, WeightsThatAreKeptGiveTheBitsOfPanels) {
  const Array<float> a(device_.pool, a_), bias(device_.pool, std::span<const float>(bias_));
  for (const Precision precision : {Precision::int8, Precision::bf16}) {
    const Weights w = weights(precision);
    const Tensor weight = Tensor::parameter(device_.pool, inner, columns);
    weight.storage().low_precision = w.matrix;
    for (const bool again : {false, true}) {
      const Array<float> c(device_.pool, rows * columns);
      multiply_by_weight(device_, {a.data(), rows, inner, inner}, weight, {.keep = true},
                         {c.data(), rows, columns, columns},
                         {.bias = bias.data(), .activation = Activation::relu});
      EXPECT_EQ(c.download(), product(w.matrix, bias)) << again;
    }
    const bool keeps = precision == Precision::bf16 && rounds_once(device_, precision);
    EXPECT_EQ(weight.storage().packed != nullptr, keeps);
  }
}

TEST_P(LowPrecision, SomeColumnsHaveTheBitsOfTheWhole) {
  if (!PackedRows::possible(device_)) GTEST_SKIP() << "only all columns are multiplied";
  const std::vector<int32_t> some = {7, 49, 0, 16, 15, 3};
  const auto count = static_cast<int64_t>(some.size());
  std::vector<float> some_biases;
  for (const int32_t j : some) some_biases.push_back(bias_[static_cast<size_t>(j)]);
  for (const Precision precision : {Precision::int8, Precision::bf16}) {
    const Weights w = weights(precision);
    const Array<int32_t> wanted(device_.pool, std::span<const int32_t>(some));
    const Array<unsigned char> data(device_.pool, low_precision_size(precision, inner, count));
    const Array<float> scales(device_.pool, count);
    device_.kernels.gather_columns(device_.context, w.matrix, wanted.data(), count, data.data(),
                                   scales.data());
    const std::vector<float> whole =
                                 product(w.matrix, Array<float>(device_.pool, std::span<const float>(bias_))),
                             part = product({precision, data.data(), scales.data(), inner, count},
                                            Array<float>(device_.pool, std::span<const float>(some_biases)));
    for (size_t r = 0; r < rows; ++r)
      for (size_t j = 0; j < some.size(); ++j)
        EXPECT_EQ(part[r * some.size() + j], whole[r * columns + static_cast<size_t>(some[j])]);
  }
}

TEST_P(LowPrecision, WidenedColumnsAreTheFloatsUpToRounding) {
  const std::vector<int32_t> some = {7, 49, 0, 16, 15, 3};
  const auto count = static_cast<int64_t>(some.size());
  const Array<int32_t> wanted(device_.pool, std::span<const int32_t>(some));
  for (const Precision precision : {Precision::int8, Precision::bf16}) {
    const Weights w = weights(precision);
    const Array<float> widened(device_.pool, count * inner);
    device_.kernels.widen_columns(device_.context, w.matrix, wanted.data(),
                                  {widened.data(), count, inner, inner});
    const std::vector<float> floats = widened.download();
    for (size_t j = 0; j < some.size(); ++j)
      for (size_t k = 0; k < inner; ++k)
        EXPECT_NEAR(floats[j * inner + k], b_[k * columns + static_cast<size_t>(some[j])], 0.02);
  }
}

INSTANTIATE_TEST_SUITE_P(On, LowPrecision, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
