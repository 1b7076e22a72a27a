// The packed product: its bits are those of the plainest loop, whatever the shape, the threads and the neighbours. In
// bf16 that loop is the same for every instruction set.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "kernels/kernels.h"
#include "kernels/nearest_bf16.h"
#include "kernels/reference_activation.h"
#include "kernels/tile_models.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

// How the products of one table multiply: floats, or floats rounded to bf16.
struct ProductCase {
  const Kernels* kernels;
  Precision precision;

  const ProductKernels& products() const {
    return precision == Precision::bf16 ? kernels->low_precision.rounded : kernels->products;
  }
};
void PrintTo(const ProductCase& c, std::ostream* out) { *out << c.kernels->name; }

// All that this machine has. A table that adds to the one before it has that one's products of floats.
std::vector<ProductCase> product_cases() {
  std::vector<ProductCase> cases;
  for (const Kernels* kernels : with_tile_models()) {
    const auto same = [&](const ProductCase& c) {
      return c.kernels->products.multiply == kernels->products.multiply;
    };
    if (std::ranges::none_of(cases, same)) cases.push_back({kernels, Precision::fp32});
    cases.push_back({kernels, Precision::bf16});
  }
  return cases;
}

// One step of a sum, as the instruction set of this name takes it.
float multiply_add(const Kernels& kernels, float a, float b, float c) {
#if !defined(__FP_FAST_FMAF)
  if (std::string(kernels.name) == "baseline") return a * b + c;
#endif
  return std::fma(a, b, c);
}

float element(ConstMatrix m, int64_t i, int64_t j) { return m.data[i * m.row_stride + j * m.column_stride]; }

// To the nearest number that bf16 holds.
float to_bf16(float x) { return float_of_bf16(nearest_bf16(x)); }

// As AMX has it: of 32 products those of even indices are added up, those of odd ones, and then both.
float naive_sum_in_tiles(ConstMatrix a, ConstMatrix b, int64_t i, int64_t j, float sum) {
  for (int64_t begin = 0; begin < b.rows; begin += 32) {
    float even_and_odd[2] = {0, 0};
    for (int64_t k = begin; k < std::min(begin + 32, b.rows); ++k) {
      float& part = even_and_odd[k % 2];
      part = std::fma(to_bf16(element(a, i, k)), to_bf16(element(b, k, j)), part);
    }
    sum += even_and_odd[0] + even_and_odd[1];
  }
  return sum;
}

// Row i of a times column j of b, added to `sum`: the definition.
float naive_sum(const ProductCase& c, ConstMatrix a, ConstMatrix b, int64_t i, int64_t j, float sum) {
  if (c.precision == Precision::bf16 && multiplies_in_tiles(*c.kernels))
    return naive_sum_in_tiles(a, b, i, j, sum);
  const auto rounded = [&](float x) { return c.precision == Precision::bf16 ? to_bf16(x) : x; };
  for (int64_t k = 0; k < b.rows; ++k)
    sum = multiply_add(*c.kernels, rounded(element(a, i, k)), rounded(element(b, k, j)), sum);
  return sum;
}

// One row of c = a·b (+ c).
std::vector<float> naive_row(const ProductCase& c, ConstMatrix a, ConstMatrix b, int64_t i,
                             const float* start) {
  std::vector<float> row(static_cast<size_t>(b.columns));
  for (int64_t j = 0; j < b.columns; ++j)
    row[static_cast<size_t>(j)] = naive_sum(c, a, b, i, j, start != nullptr ? start[j] : 0.0f);
  return row;
}

// A matrix with its memory; stored by columns where `transposed`, and always with a gap between its lines.
struct Operand {
  Operand(int64_t rows, int64_t columns, bool transposed, uint64_t key) {
    const int64_t lines = transposed ? columns : rows, stride = (transposed ? rows : columns) + 3;
    memory = random_floats(lines * stride, key);
    view = {memory.data(), rows, columns, stride, 1};
    if (transposed) view = ConstMatrix{memory.data(), columns, rows, stride, 1}.transposed();
  }

  ConstMatrix rows(int64_t first, int64_t count) const {
    return {view.data + first * view.row_stride, count, view.columns, view.row_stride, view.column_stride};
  }

  std::vector<float> memory;
  ConstMatrix view = {};
};

std::vector<float> packed(const ProductKernels& products, Context& context, ConstMatrix b) {
  const int64_t size = products.packed_size(b.rows, b.columns);
  std::vector<float> memory(static_cast<size_t>(size + 1), 77.0f);
  products.pack(context, b, memory.data());
  EXPECT_EQ(memory.back(), 77.0f) << "pack wrote beyond packed_size";
  return memory;
}

// `count` floats from element `first` on.
std::span<const float> part_of(const std::vector<float>& values, int64_t first, int64_t count) {
  return std::span(values).subspan(static_cast<size_t>(first), static_cast<size_t>(count));
}

class Products : public testing::TestWithParam<ProductCase> {
 protected:
  // The product of a's rows [first, first + count), in rows a little apart whose gaps must stay as they are.
  std::vector<float> multiply(Context& context, const Operand& a, const Operand& b,
                              const std::vector<float>& packed_b, int64_t first, int64_t count,
                              Epilogue epilogue, const std::vector<float>& start) {
    const int64_t n = b.view.columns, stride = n + 5;
    std::vector<float> c(static_cast<size_t>(count * stride), 55.0f);
    for (int64_t i = 0; i < count && epilogue.accumulate; ++i)
      std::copy_n(start.begin() + (first + i) * n, n, c.begin() + i * stride);
    products.product(context, a.rows(first, count), {packed_b.data(), b.view.rows, n},
                     {c.data(), count, n, stride}, epilogue);
    std::vector<float> dense;
    for (int64_t i = 0; i < count; ++i) {
      const float* row = &c[static_cast<size_t>(i * stride)];
      dense.insert(dense.end(), row, row + n);
      for (int64_t j = n; j < stride; ++j) EXPECT_EQ(row[j], 55.0f) << "written beyond a row";
    }
    return dense;
  }

  const ProductKernels& products = GetParam().products();
};

// Every element is one chain of multiply-adds over the inner index.
TEST_P(Products, EqualTheNaiveLoopToTheBit) {
  CpuContext context(2);
  uint64_t key = 1;
  for (int64_t inner : {0, 1, 3, 16, 257, 512, 1100}) {
    for (int64_t rows : {1, 2, 3, 5, 6, 14, 31}) {
      for (int64_t columns : {1, 7, 16, 33, 130, 200}) {
        if (inner > 512 && columns > 130) continue;
        const int variant = static_cast<int>(key % 8);
        const bool accumulate = (variant & 4) != 0;
        const Operand a(rows, inner, (variant & 1) != 0, ++key),
            b(inner, columns, (variant & 2) != 0, ++key + 1000);
        const std::vector<float> start = random_floats(rows * columns, key);
        const std::vector<float> c = multiply(context, a, b, packed(products, context, b.view), 0, rows,
                                              {.accumulate = accumulate}, start);
        for (int64_t i = 0; i < rows; ++i) {
          const float* from = accumulate ? &start[static_cast<size_t>(i * columns)] : nullptr;
          const std::vector<float> row = naive_row(GetParam(), a.view, b.view, i, from);
          ASSERT_TRUE(same_bits(row, part_of(c, i * columns, columns)))
              << rows << " x " << inner << " x " << columns << ", row " << i << ", variant " << variant;
        }
      }
    }
  }
}

// A right operand that is used once, packed on the way: the same bits, whatever the phases and strips.
TEST_P(Products, MultiplyEqualsProductOfThePacked) {
  CpuContext one(1), two(2);
  uint64_t key = 1;
  for (auto [rows, inner, columns] : {std::array<int64_t, 3>{1, 5, 3},
                                      {40, 0, 70},
                                      {33, 700, 300},
                                      {200, 1200, 600},
                                      {3, 600, 0},
                                      {0, 600, 3},
                                      {700, 520, 300},
                                      {20, 530, 2200},
                                      {520, 1100, 1100}}) {
    const bool is_model = std::string_view(GetParam().kernels->name).starts_with("tile_model");
    if (is_model && rows == 520) continue;  // a minute in C++
    for (int variant = 0; variant < 4; ++variant) {
      const Operand a(rows, inner, (variant & 1) != 0, ++key), b(inner, columns, (variant & 2) != 0, ++key);
      const std::vector<float> start = random_floats(rows * columns, key), bias = random_floats(columns, key);
      for (const Epilogue& epilogue :
           {Epilogue{.accumulate = true}, Epilogue{.bias = bias.data(), .activation = Activation::relu}}) {
        const std::vector<float> expected =
            multiply(two, a, b, packed(products, two, b.view), 0, rows, epilogue, start);
        for (Context* context : {&one, &two}) {
          std::vector<float> c = start;
          products.multiply(*context, a.view, b.view, {c.data(), rows, columns, columns}, epilogue);
          ASSERT_TRUE(same_bits(c, expected))
              << rows << " x " << inner << " x " << columns << ", variant " << variant;
        }
      }
    }
  }
}

// A row has the same bits alone and among others, at any place, with any number of threads.
TEST_P(Products, ARowDoesNotDependOnItsNeighbours) {
  CpuContext one(1), two(2);
  const int64_t rows = 303, inner = 600, columns = 2300;
  for (bool transposed : {false, true}) {
    const Operand a(rows, inner, transposed, 5), b(inner, columns, transposed, 6);
    const std::vector<float> bias = random_floats(columns, 7), start = random_floats(rows * columns, 8);
    const std::vector<float> packed_b = packed(products, two, b.view);
    EXPECT_EQ(packed_b, packed(products, one, b.view));
    std::vector<RowKey> keys;
    for (int64_t i = 0; i < rows; ++i)
      keys.push_back({static_cast<uint64_t>(i / 20), static_cast<uint32_t>(i % 20)});
    Epilogue epilogue = {.accumulate = true,
                         .bias = bias.data(),
                         .activation = Activation::gelu,
                         .dropout = {.rate = 0.3f, .key = {1, 2}, .rows = keys.data()}};
    const std::vector<float> whole = multiply(two, a, b, packed_b, 0, rows, epilogue, start);
    EXPECT_EQ(whole, multiply(one, a, b, packed_b, 0, rows, epilogue, start));
    for (auto [first, count] :
         {std::pair<int64_t, int64_t>{0, 1}, {302, 1}, {17, 2}, {100, 3}, {200, 33}, {5, 150}}) {
      epilogue.dropout.rows = keys.data() + first;
      const std::vector<float> part = multiply(two, a, b, packed_b, first, count, epilogue, start);
      EXPECT_TRUE(same_bits(part, part_of(whole, first * columns, count * columns)))
          << count << " rows from " << first;
    }
  }
}

// Columns may be cut as well: the product with some columns of b is those columns of the product.
TEST_P(Products, AColumnDoesNotDependOnItsNeighbours) {
  CpuContext context(2);
  const Operand a(40, 300, false, 1), b(300, 500, false, 2);
  const std::vector<float> whole = multiply(context, a, b, packed(products, context, b.view), 0, 40, {}, {});
  Operand part = b;
  for (auto [first, count] : {std::pair<int64_t, int64_t>{0, 1}, {3, 100}, {64, 64}, {499, 1}}) {
    part.view = {part.memory.data() + first, 300, count, b.view.row_stride, 1};
    const std::vector<float> c =
        multiply(context, a, part, packed(products, context, part.view), 0, 40, {}, {});
    for (int64_t i = 0; i < 40; ++i) {
      EXPECT_TRUE(same_bits(part_of(c, i * count, count), part_of(whole, i * 500 + first, count)));
    }
  }
}

constexpr Activation every_activation[] = {Activation::none,         Activation::relu,
                                           Activation::gelu,         Activation::gelu_tanh,
                                           Activation::gelu_sigmoid, Activation::swish};

TEST_P(Products, EpilogueAddsBiasKeepsItsInputAndActivates) {
  CpuContext context(2);
  const int64_t rows = 9, columns = 333;
  const Operand a(rows, 0, false, 1), b(0, columns, false, 2);
  const std::vector<float> packed_b = packed(products, context, b.view);
  std::vector<float> start = random_floats(rows * columns, 3);
  for (float& x : start) x *= 20;
  const std::vector<float> bias = random_floats(columns, 4);
  for (const Activation activation : every_activation) {
    std::vector<float> kept(start.size() + 1, 33.0f);
    const Epilogue epilogue = {
        .accumulate = true, .bias = bias.data(), .before_activation = kept.data(), .activation = activation};
    const std::vector<float> c = multiply(context, a, b, packed_b, 0, rows, epilogue, start);
    for (size_t i = 0; i < c.size(); ++i) {
      const float x = start[i] + bias[i % static_cast<size_t>(columns)];
      ASSERT_EQ(kept[i], x);
      const double expected = reference_activation(activation, x);
      ASSERT_NEAR(c[i], expected, 3e-7 * std::max(1.0, std::abs(expected))) << "at " << x;
    }
    EXPECT_EQ(kept.back(), 33.0f);
  }
}

TEST_P(Products, ANaNStaysOneThroughEveryActivation) {
  CpuContext context(1);
  const Operand a(1, 0, false, 1), b(0, 3, false, 2);
  const std::vector<float> start = {1.0f, std::numeric_limits<float>::quiet_NaN(), -1.0f};
  for (const Activation activation : every_activation) {
    const Epilogue epilogue = {.accumulate = true, .activation = activation};
    const std::vector<float> c =
        multiply(context, a, b, packed(products, context, b.view), 0, 1, epilogue, start);
    EXPECT_TRUE(std::isfinite(c[0]) && std::isnan(c[1]) && std::isfinite(c[2]));
  }
}

// The masks are those that base/random.h's generator gives: column 64b + 32p + 16h + 2l + i is half h of word 2p + i
// of counter 8b + l.
TEST_P(Products, DropoutFollowsTheCounters) {
  CpuContext context(2);
  const std::vector<RowKey> keys = {
      {0, 0}, {0x123456789abcdefu, 3}, {0xffffffffffffffffu, 0xffffffffu}, {7, 1}};
  const int64_t rows = static_cast<int64_t>(keys.size()), columns = 1000;
  const Operand a(rows, 0, false, 1), b(0, columns, false, 2);
  const std::vector<float> ones(static_cast<size_t>(rows * columns), 1.0f),
      packed_b = packed(products, context, b.view);
  for (float rate : {0.1f, 0.5f, 0.9f}) {
    const uint32_t threshold = static_cast<uint32_t>(rate * 65536);
    const Epilogue epilogue = {.accumulate = true,
                               .dropout = {.rate = rate, .key = {0xdeadbeef, 5}, .rows = keys.data()}};
    const std::vector<float> c = multiply(context, a, b, packed_b, 0, rows, epilogue, ones);
    for (int64_t i = 0; i < rows * columns; ++i) {
      const RowKey key = keys[static_cast<size_t>(i / columns)];
      const uint32_t column = static_cast<uint32_t>(i % columns);
      const std::array<uint32_t, 4> words =
          philox({column / 64 * 8 + column % 16 / 2, key.position, static_cast<uint32_t>(key.pair),
                  static_cast<uint32_t>(key.pair >> 32)},
                 {0xdeadbeef, 5});
      const uint32_t word = words[column % 64 / 32 * 2 + column % 2];
      const uint32_t half = column % 32 < 16 ? word & 0xffff : word >> 16;
      ASSERT_EQ(c[static_cast<size_t>(i)], half >= threshold ? 65536 / (65536.0f - threshold) : 0.0f)
          << "row " << i / columns << ", column " << column;
    }
  }
}

// An operand that is not finite stays so through rounding, and touches no other element.
TEST_P(Products, WhatIsNotFiniteStaysSo) {
  CpuContext context(1);
  for (const bool transposed : {false, true}) {
    Operand a(3, 5, transposed, 1), b(5, 4, transposed, 2);
    const std::vector<float> before =
        multiply(context, a, b, packed(products, context, b.view), 0, 3, {}, {});
    const auto set = [](const Operand& m, int64_t i, int64_t j, float x) {
      const_cast<float*>(m.view.data)[i * m.view.row_stride + j * m.view.column_stride] = x;
    };
    set(a, 1, 3, std::bit_cast<float>(0x7f800001u));  // a NaN whose upper half alone would be an infinity
    set(b, 4, 2, std::numeric_limits<float>::infinity());
    const std::vector<float> c = multiply(context, a, b, packed(products, context, b.view), 0, 3, {}, {});
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 4; ++j) {
        if (i == 1) {
          EXPECT_TRUE(std::isnan(c[i * 4 + j]));
        } else if (j == 2) {
          EXPECT_TRUE(std::isinf(c[i * 4 + j]));
        } else {
          EXPECT_EQ(c[i * 4 + j], before[i * 4 + j]);
        }
      }
    }
  }
}

// Where multiply-adds are fused, a product may be beyond the largest float as long as its sum is not.
TEST_P(Products, AProductMayBeBeyondTheLargestFloat) {
  CpuContext context(1);
  Operand a(1, 4, false, 1), b(4, 1, true, 2);
  for (const auto& [k, x, y] :
       {std::tuple(0, 0x1p64f, -0x1p63f), {1, 1, 1}, {2, 0x1p64f, 0x1p64f}, {3, 2, 1}}) {
    a.memory[static_cast<size_t>(k)] = x;
    b.memory[static_cast<size_t>(k)] = y;
  }
  const std::vector<float> product = multiply(context, a, b, packed(products, context, b.view), 0, 1, {}, {});
  EXPECT_EQ(product, naive_row(GetParam(), a.view, b.view, 0, nullptr));
}

INSTANTIATE_TEST_SUITE_P(On, Products, testing::ValuesIn(product_cases()), [](const auto& test) {
  return std::string(test.param.kernels->name) + (test.param.precision == Precision::bf16 ? "_bf16" : "");
});

}  // namespace
}  // namespace dragoman::internal
