// Products with int8 and bf16 weights: int8's bits are those of the definition on every instruction set; bf16's are
// near, and a row's are its own.
#include "kernels/low_precision.h"

#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "kernels/tile_models.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

// A weight of this size in fewer bits, aligned as files are.
struct LowPrecisionOperand {
  LowPrecisionOperand(Precision precision, int64_t rows, int64_t columns, uint64_t key)
      : floats(random_floats(rows * columns, key)), scales(static_cast<size_t>(columns)) {
    const auto size = static_cast<size_t>(low_precision_size(precision, rows, columns));
    bytes.resize(size + 64);
    auto* data = reinterpret_cast<unsigned char*>((reinterpret_cast<uintptr_t>(bytes.data()) + 63) / 64 * 64);
    CpuContext context(1);
    view =
        to_low_precision(context, precision, {floats.data(), rows, columns, columns, 1}, data, scales.data());
  }
  float at(int64_t k, int64_t j) const { return floats[static_cast<size_t>(k * view.columns + j)]; }

  std::vector<float> floats, scales;
  std::vector<unsigned char> bytes;
  LowPrecisionMatrix view = {};
};

class LowPrecisionProducts : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override { kernels = with_tile_models()[GetParam()]; }

  std::vector<float> multiply(int threads, const std::vector<float>& a, int64_t rows,
                              const LowPrecisionOperand& b, const Epilogue& epilogue = {}) {
    CpuContext context(threads);
    const int64_t n = b.view.columns, stride = n + 3;
    std::vector<float> c(static_cast<size_t>(rows * stride), 55.0f), dense;
    const auto run =
        b.view.precision == Precision::int8 ? kernels->low_precision.int8 : kernels->low_precision.bf16;
    run(context, {a.data(), rows, b.view.rows, b.view.rows, 1}, b.view, {c.data(), rows, n, stride},
        epilogue);
    for (int64_t i = 0; i < rows; ++i) {
      const float* row = &c[static_cast<size_t>(i * stride)];
      dense.insert(dense.end(), row, row + n);
      for (int64_t j = n; j < stride; ++j) EXPECT_EQ(row[j], 55.0f) << "written beyond a row";
    }
    return dense;
  }

  const Kernels* kernels = nullptr;
};

int steps_of(float x, float scale) { return scale > 0 ? static_cast<int>(std::lrint(x / scale)) : 0; }

// One element by the definition.
float element_of_int8(const float* a, const LowPrecisionOperand& b, int64_t j) {
  float most = 0;
  for (int64_t k = 0; k < b.view.rows; ++k) most = std::max(most, std::fabs(a[k]));
  const float inverse = most > 0 ? 127 / most : 0, scale = b.scales[static_cast<size_t>(j)];
  int64_t sum = 0;
  for (int64_t k = 0; k < b.view.rows; ++k)
    sum += std::lrint(a[k] * inverse) * static_cast<int64_t>(steps_of(b.at(k, j), scale));
  return static_cast<float>(sum) * (most / 127 * scale);
}

TEST_P(LowPrecisionProducts, Int8HasTheBitsOfTheDefinition) {
  uint64_t key = 0;
  for (int64_t inner : {1, 3, 4, 64, 130, 513}) {
    for (int64_t columns : {1, 15, 16, 17, 40, 150}) {
      const LowPrecisionOperand b(Precision::int8, inner, columns, ++key);
      for (int64_t rows : {1, 2, 5, 13, 31}) {
        std::vector<float> a = random_floats(rows * inner, ++key);
        if (rows > 1) std::fill_n(a.begin(), inner, 0.0f);  // nothing to scale by
        const std::vector<float> c = multiply(1 + static_cast<int>(key % 2), a, rows, b);
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < columns; ++j) {
            ASSERT_EQ(c[static_cast<size_t>(i * columns + j)],
                      element_of_int8(&a[static_cast<size_t>(i * inner)], b, j))
                << rows << " x " << inner << " x " << columns << " at " << i << ", " << j;
          }
        }
      }
    }
  }
}

// The largest sums that there can be do not wrap and do not saturate, whatever the signs of neighbours are, and at the
// ends of rows of any length.
TEST_P(LowPrecisionProducts, Int8DoesNotSaturate) {
  uint64_t key = 100;
  for (int64_t inner : {1, 2, 7, 31, 33, 66, 8192}) {
    LowPrecisionOperand b(Precision::int8, inner, 16, ++key);
    for (size_t n = 0; n < b.floats.size(); ++n) b.floats[n] = n % 16 < 8 ? 1.0f : n % 3 == 0 ? -1.0f : 1.0f;
    CpuContext context(1);
    to_low_precision(context, Precision::int8, {b.floats.data(), inner, 16, 16, 1},
                     const_cast<unsigned char*>(b.view.data), b.scales.data());
    const std::vector<float> signs = random_floats(7 * inner, ++key);
    std::vector<float> a;
    for (int64_t k = 0; k < 7 * inner; ++k) {
      const int64_t row = k / inner;
      const float some = signs[static_cast<size_t>(k)] > 0 ? 1.0f : -1.0f;
      const float of_row[7] = {1,    -1,          k % 2 == 0 ? 1.0f : -1.0f, k % 4 < 2 ? 1.0f : -1.0f, some,
                               some, 0.51f * some};
      a.push_back(row == 6 && k % inner == 0 ? 1.0f : of_row[row]);
    }
    for (int64_t rows : {1, 7}) {
      const std::vector<float> c = multiply(1, a, rows, b);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < 16; ++j)
          ASSERT_EQ(c[static_cast<size_t>(i * 16 + j)],
                    element_of_int8(&a[static_cast<size_t>(i * inner)], b, j))
              << "row " << i << " of " << rows << " x " << inner << ", column " << j;
    }
  }
}

TEST_P(LowPrecisionProducts, Bf16IsNear) {
  uint64_t key = 100;
  for (int64_t inner : {1, 2, 65, 512}) {
    for (int64_t columns : {1, 16, 33, 100}) {
      const LowPrecisionOperand b(Precision::bf16, inner, columns, ++key);
      const std::vector<float> a = random_floats(7 * inner, ++key), c = multiply(2, a, 7, b);
      for (int64_t i = 0; i < 7; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < inner; ++k)
            sum += double{a[static_cast<size_t>(i * inner + k)]} * double{b.at(k, j)};
          EXPECT_NEAR(c[static_cast<size_t>(i * columns + j)], sum,
                      0.004 * std::sqrt(static_cast<double>(inner)));
        }
      }
    }
  }
}

TEST_P(LowPrecisionProducts, ARowIsItsOwnWhateverStandsBesideIt) {
  for (Precision precision : {Precision::int8, Precision::bf16}) {
    const LowPrecisionOperand b(precision, 200, 300, 5);
    const std::vector<float> a = random_floats(200 * 260, 6), bias = random_floats(300, 7);
    const Epilogue epilogue = {.bias = bias.data(), .activation = Activation::relu};
    const std::vector<float> all = multiply(2, a, 260, b, epilogue);
    for (int64_t count : {1, 2, 7, 32, 128}) {
      const std::vector<float> some(a.begin() + 200 * 3, a.begin() + 200 * (3 + count));
      const std::vector<float> c = multiply(1, some, count, b, epilogue);
      EXPECT_EQ(std::memcmp(c.data(), &all[3 * 300], c.size() * sizeof(float)), 0) << count << " rows";
    }
  }
}

TEST_P(LowPrecisionProducts, TheEpilogueComesAfterTheSums) {
  const LowPrecisionOperand b(Precision::int8, 40, 70, 8);
  const std::vector<float> a = random_floats(4 * 40, 9), bias = random_floats(70, 10),
                           plain = multiply(1, a, 4, b);
  const std::vector<float> c = multiply(1, a, 4, b, {.bias = bias.data(), .activation = Activation::relu});
  for (size_t i = 0; i < c.size(); ++i) EXPECT_EQ(c[i], std::max(0.0f, plain[i] + bias[i % 70]));
}

// Wherever in a row it is, and whatever comes after it: else it would become a number that looks right.
TEST_P(LowPrecisionProducts, ARowWithoutANumberHasNone) {
  const LowPrecisionOperand b(Precision::int8, 96, 20, 13);
  std::vector<float> a = random_floats(5 * 96, 14);
  for (const size_t at : {0, 5, 40, 95}) {
    std::vector<float> damaged = a;
    damaged[2 * 96 + at] = std::nanf("");
    const std::vector<float> c = multiply(1, damaged, 5, b), plain = multiply(1, a, 5, b);
    for (size_t i = 0; i < c.size(); ++i) {
      if (i / 20 == 2) {
        EXPECT_TRUE(std::isnan(c[i])) << at;
      } else {
        EXPECT_EQ(c[i], plain[i]);
      }
    }
  }
}

TEST_P(LowPrecisionProducts, WidenedColumnsAreNearWhatWasRounded) {
  for (Precision precision : {Precision::int8, Precision::bf16}) {
    const LowPrecisionOperand b(precision, 33, 50, 11);
    CpuContext context(2);
    const std::vector<int32_t> columns = {49, 0, 17, 17};
    std::vector<float> rows(columns.size() * 33);
    kernels->widen_columns(context, b.view, columns.data(), {rows.data(), 4, 33, 33});
    for (size_t r = 0; r < columns.size(); ++r) {
      for (int64_t k = 0; k < 33; ++k)
        EXPECT_NEAR(rows[r * 33 + static_cast<size_t>(k)], b.at(k, columns[r]),
                    precision == Precision::int8 ? 0.004 : 0.002);
    }
  }
}

// Bit for bit the matrix that rounding these columns alone makes, its padding included.
TEST_P(LowPrecisionProducts, GatheredColumnsAreAMatrixOfTheirOwn) {
  for (Precision precision : {Precision::int8, Precision::bf16}) {
    const LowPrecisionOperand b(precision, 33, 50, 12);
    const std::vector<int32_t> columns = {49, 0, 17, 17, 3, 40, 41, 2, 30, 31, 32, 33, 34, 5, 6, 7, 8, 1, 20};
    const auto count = static_cast<int64_t>(columns.size());
    std::vector<float> floats(static_cast<size_t>(33 * count));
    for (size_t i = 0; i < floats.size(); ++i)
      floats[i] = b.at(static_cast<int64_t>(i) / count, columns[i % columns.size()]);
    const auto size = static_cast<size_t>(low_precision_size(precision, 33, count));
    std::vector<unsigned char> wanted(size, 1), gathered(size, 2);
    std::vector<float> wanted_scales(columns.size(), 1), scales(columns.size(), 1);
    CpuContext context(2);
    to_low_precision(context, precision, {floats.data(), 33, count, count, 1}, wanted.data(),
                     wanted_scales.data());
    kernels->gather_columns(context, b.view, columns.data(), count, gathered.data(), scales.data());
    EXPECT_EQ(gathered, wanted);
    EXPECT_EQ(scales, wanted_scales);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryInstructionSet, LowPrecisionProducts,
                         testing::Range(size_t{0}, with_tile_models().size()),
                         [](const auto& test) { return with_tile_models()[test.param]->name; });

TEST(LowPrecision, WhatIsNoNumberStaysNone) {
  LowPrecisionOperand b(Precision::bf16, 1, 2, 1);
  const float values[2] = {std::nanf(""), std::numeric_limits<float>::infinity()};
  CpuContext context(1);
  to_low_precision(context, Precision::bf16, {values, 1, 2, 2, 1}, const_cast<unsigned char*>(b.view.data),
                   nullptr);
  const int32_t columns[2] = {0, 1};
  float rows[2];
  available_kernels().tables[0]->widen_columns(context, b.view, columns, {rows, 2, 1, 1});
  EXPECT_TRUE(std::isnan(rows[0]));
  EXPECT_TRUE(std::isinf(rows[1]));
}

// In either layout, in place, and where a column is zeros.
TEST(LowPrecisionWeights, AreTheSameAsFloats) {
  constexpr int64_t rows = 33, columns = 70;
  std::vector<float> straight = random_floats(rows * columns, 5);
  for (int64_t k = 0; k < rows; ++k) straight[static_cast<size_t>(k * columns + 3)] = 0;
  std::vector<float> transposed(straight.size()), widened(straight.size());
  for (int64_t k = 0; k < rows; ++k)
    for (int64_t j = 0; j < columns; ++j)
      transposed[static_cast<size_t>(j * rows + k)] = straight[static_cast<size_t>(k * columns + j)];
  CpuContext context(2);
  std::vector<unsigned char> bytes(static_cast<size_t>(low_precision_size(Precision::int8, rows, columns)));
  std::vector<float> scales(columns);
  const LowPrecisionMatrix int8 = to_low_precision(
      context, Precision::int8, {straight.data(), rows, columns, columns, 1}, bytes.data(), scales.data());
  std::vector<int32_t> all(columns);
  std::iota(all.begin(), all.end(), 0);
  every_instruction_set().front()->widen_columns(context, int8, all.data(),
                                                 {widened.data(), columns, rows, rows});
  round_to_int8(context, {straight.data(), rows, columns, columns, 1}, straight.data());
  round_to_int8(context, {transposed.data(), rows, columns, 1, rows}, transposed.data());
  EXPECT_EQ(transposed, widened);
  for (int64_t k = 0; k < rows; ++k)
    for (int64_t j = 0; j < columns; ++j)
      ASSERT_EQ(straight[static_cast<size_t>(k * columns + j)], widened[static_cast<size_t>(j * rows + k)]);
}

}  // namespace
}  // namespace dragoman::internal
