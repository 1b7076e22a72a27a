// Kernels over rows on tables whose matrices may be in bf16 alone: there they give what they give for the same numbers
// in floats, rounded once; and rows that cannot be read in fours get the bits of those that can.
#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/on_device.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

using Floats = std::vector<float>;
using Halves = std::vector<uint16_t>;

float widened(uint16_t bf16) { return std::bit_cast<float>(uint32_t{bf16} << 16); }
uint16_t rounded(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
Halves rounded(const Floats& values) {
  Halves halves;
  for (const float x : values) halves.push_back(rounded(x));
  return halves;
}

Floats widened(const Halves& halves) {
  Floats values;
  for (const uint16_t x : halves) values.push_back(widened(x));
  return values;
}
constexpr float beside = 99;

std::vector<const Kernels*> rounding_tables() {
  std::vector<const Kernels*> tables;
  for (const Kernels* table : every_table())
    if (table->low_precision.round != nullptr) tables.push_back(table);
  return tables;
}

struct Shape {
  int64_t rows, columns;
};
constexpr Shape shapes[] = {{1, 5},    {3, 5},     {130, 5},  {3, 64},   {64, 64},   {130, 64},
                            {3, 100},  {64, 100},  {3, 512},  {64, 512}, {130, 512}, {1, 700},
                            {3, 1024}, {40, 1024}, {3, 1088}, {40, 1088}};

class Rows : public testing::TestWithParam<const Kernels*> {
 protected:
  // Numbers that bf16 holds, in it and in floats; rows are `gap` apart, and the first begins after `offset` numbers.
  // What is not theirs is `beside`.
  struct Numbers {
    Numbers(DeviceMemory& memory, Shape of, uint64_t key, int64_t gap, int64_t first)
        : shape(of),
          stride(of.columns + gap),
          offset(first),
          halves(memory, rounded(placed(key))),
          floats(memory, widened(rounded(placed(key)))) {}

    Floats placed(uint64_t key) const {
      const Floats values = random_floats(shape.rows * shape.columns, key);
      Floats all(static_cast<size_t>(offset + shape.rows * stride), beside);
      for (int64_t r = 0; r < shape.rows; ++r)
        std::copy_n(values.begin() + r * shape.columns, shape.columns, all.begin() + offset + r * stride);
      return all;
    }
    Matrix in_floats() { return {floats.data() + offset, shape.rows, shape.columns, stride}; }
    Matrix in_bf16() { return {nullptr, shape.rows, shape.columns, stride, halves.data() + offset}; }
    Matrix in_both() {
      return {floats.data() + offset, shape.rows, shape.columns, stride, halves.data() + offset};
    }
    template <class T>
    std::vector<T> dense(const std::vector<T>& all) const {
      std::vector<T> rows;
      for (int64_t r = 0; r < shape.rows; ++r)
        for (int64_t c = 0; c < shape.columns; ++c)
          rows.push_back(all[static_cast<size_t>(offset + r * stride + c)]);
      return rows;
    }
    Floats float_rows() { return dense(floats.values()); }
    Halves bf16_rows() { return dense(halves.values()); }

    Shape shape;
    int64_t stride, offset;
    OnDevice<uint16_t> halves;
    OnDevice<float> floats;
  };

  Numbers numbers(Shape shape, uint64_t key, int64_t gap = 0, int64_t offset = 0) {
    return {memory_, shape, key, gap, offset};
  }
  Dropout dropout(float rate, int64_t first = 0) {
    return {.rate = rate, .key = {3, 4}, .rows = keys_.data() + first};
  }
  static std::vector<RowKey> many_keys() {
    std::vector<RowKey> keys;
    for (uint32_t i = 0; i < 9000; ++i) keys.push_back({i / 7, i % 7});
    return keys;
  }

  const Kernels& kernels_ = *GetParam();
  DeviceMemory& memory_ = kernels_.memory();
  const std::unique_ptr<Context> own_context_{kernels_.new_context(2)};
  Context& context_ = *own_context_;
  OnDevice<RowKey> keys_{memory_, many_keys()};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Rows);

// --- norms ------------------------------------------------------------------------------------------

// What add_dropout_norm writes.
struct Normed {
  Floats sum, normed, statistics;
  Halves rounded;
};

class Norms : public Rows {
 protected:
  enum class In { floats, bf16, both };

  static Matrix in(Numbers& numbers, In what) {
    return what == In::floats ? numbers.in_floats()
           : what == In::bf16 ? numbers.in_bf16()
                              : numbers.in_both();
  }

  // Of rows [first, first + shape.rows).
  Normed norm(Shape shape, In branch_in, In normed_in, bool centred, int64_t gap = 0, int64_t offset = 0,
              int64_t first = 0) {
    const Shape all = {first + shape.rows, shape.columns};
    Numbers residual = numbers(all, 1, gap, offset), branch = numbers(all, 2, gap, offset),
            sum = numbers(all, 3, gap, offset), normed = numbers(all, 4, gap, offset);
    Numbers gain = numbers({1, shape.columns}, 5), bias = numbers({1, shape.columns}, 6);
    OnDevice<float> statistics(memory_, Floats(static_cast<size_t>(2 * shape.rows)));
    const auto from_first = [&](Matrix m) {
      if (m.data != nullptr) m.data += first * m.stride;
      if (m.rounded != nullptr) m.rounded += first * m.stride;
      m.rows -= first;
      return m;
    };
    kernels_.add_dropout_norm(context_, from_first(residual.in_floats()), from_first(in(branch, branch_in)),
                              dropout(0.3F, first), gain.floats.data(),
                              centred ? bias.floats.data() : nullptr, 1e-5F, from_first(sum.in_floats()),
                              from_first(in(normed, normed_in)), statistics.data());
    const auto kept = [&](auto rows) {
      rows.erase(rows.begin(), rows.begin() + first * shape.columns);
      return rows;
    };
    return {kept(sum.float_rows()), kept(normed.float_rows()), statistics.values(), kept(normed.bf16_rows())};
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Norms);

TEST_P(Norms, InBf16AreThoseOfTheSameFloats) {
  for (const Shape shape : shapes) {
    SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.columns);
    const bool centred = shape.rows != 3;
    const Normed floats = norm(shape, In::floats, In::floats, centred),
                 halves = norm(shape, In::bf16, In::bf16, centred),
                 both = norm(shape, In::floats, In::both, centred);
    EXPECT_TRUE(same_bits(halves.sum, floats.sum));
    EXPECT_TRUE(same_bits(halves.statistics, floats.statistics));
    EXPECT_EQ(halves.rounded, rounded(floats.normed));
    EXPECT_TRUE(same_bits(both.normed, floats.normed));
    EXPECT_EQ(both.rounded, rounded(floats.normed));
  }
}

TEST_P(Norms, HaveTheSameBitsWhereverRowsBegin) {
  for (const Shape shape : {Shape{3, 64}, Shape{3, 100}, Shape{2, 512}, Shape{2, 700}, Shape{2, 1024}}) {
    SCOPED_TRACE(shape.columns);
    const Normed fours = norm(shape, In::floats, In::floats, true);
    for (const int64_t offset : {1, 4}) {
      const Normed other = norm(shape, In::floats, In::floats, true, offset, offset);
      EXPECT_TRUE(same_bits(other.sum, fours.sum));
      EXPECT_TRUE(same_bits(other.statistics, fours.statistics));
      EXPECT_TRUE(same_bits(other.normed, fours.normed));
    }
  }
}

TEST_P(Norms, ARowDoesNotDependOnOthers) {
  for (const int64_t columns : {5, 512, 1088}) {
    const Normed all = norm({6, columns}, In::bf16, In::bf16, true);
    for (int64_t r = 0; r < 6; ++r) {
      // Random numbers are drawn in order, so that the rows before it are the same.
      const Normed one = norm({1, columns}, In::bf16, In::bf16, true, 0, 0, r);
      const auto begin = all.rounded.begin() + r * columns;
      EXPECT_EQ(one.rounded, Halves(begin, begin + columns)) << "row " << r << " of " << columns;
    }
  }
}

// What add_dropout_norm_backward writes.
struct NormGradients {
  Floats sum, branch, gain, bias;
  Halves rounded_branch;
};

class NormGradientsTest : public Norms {
 protected:
  NormGradients gradients(Shape shape, In normed_in, In branch_in, bool accumulate, bool centred,
                          bool in_place = false) {
    Numbers sum = numbers(shape, 1), normed = numbers(shape, 2), branch = numbers(shape, 4);
    Numbers target = numbers(shape, 3), gain = numbers({1, shape.columns}, 5),
            of_gain = numbers({1, shape.columns}, 6), of_bias = numbers({1, shape.columns}, 7);
    OnDevice<float> statistics(memory_, random_floats(2 * shape.rows, 8, 0.5, 1.5));
    Numbers& written = in_place ? normed : target;
    kernels_.add_dropout_norm_backward(context_, sum.in_floats(), in(normed, normed_in), statistics.data(),
                                       gain.floats.data(), dropout(0.3F), accumulate, written.in_floats(),
                                       in(branch, branch_in), of_gain.floats.data(),
                                       centred ? of_bias.floats.data() : nullptr);
    return {written.float_rows(), branch.float_rows(), of_gain.float_rows(), of_bias.float_rows(),
            branch.bf16_rows()};
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NormGradientsTest);

TEST_P(NormGradientsTest, InBf16AreThoseOfTheSameFloats) {
  for (const Shape shape : shapes) {
    SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.columns);
    const bool accumulate = shape.rows != 3, centred = shape.rows != 64;
    const NormGradients floats = gradients(shape, In::floats, In::floats, accumulate, centred),
                        halves = gradients(shape, In::bf16, In::bf16, accumulate, centred),
                        both = gradients(shape, In::floats, In::both, accumulate, centred);
    EXPECT_TRUE(same_bits(halves.sum, floats.sum));
    EXPECT_TRUE(same_bits(halves.gain, floats.gain));
    EXPECT_TRUE(same_bits(halves.bias, floats.bias));
    EXPECT_EQ(halves.rounded_branch, rounded(floats.branch));
    EXPECT_TRUE(same_bits(both.branch, floats.branch));
    EXPECT_EQ(both.rounded_branch, rounded(floats.branch));
  }
}

TEST_P(NormGradientsTest, MayStandInPlaceOfThatOfTheNorm) {
  for (const Shape shape : shapes) {
    SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.columns);
    const NormGradients apart = gradients(shape, In::floats, In::floats, false, true),
                        in_place = gradients(shape, In::floats, In::floats, false, true, true);
    EXPECT_TRUE(same_bits(in_place.sum, apart.sum));
    EXPECT_TRUE(same_bits(in_place.gain, apart.gain));
    EXPECT_TRUE(same_bits(in_place.bias, apart.bias));
  }
}

// In so many rows that a warp has several and not all blocks have as many.
TEST_P(NormGradientsTest, OfGainAndBiasAreSumsOverRows) {
  for (const Shape shape : {Shape{130, 512}, Shape{100, 5}, Shape{33, 1088}, Shape{8990, 4}}) {
    SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.columns);
    const NormGradients g = gradients(shape, In::floats, In::floats, false, true);
    const Floats x = numbers(shape, 1).float_rows(), dy = numbers(shape, 2).float_rows(),
                 statistics = random_floats(2 * shape.rows, 8, 0.5, 1.5);
    const Floats old_gain = numbers({1, shape.columns}, 6).float_rows(),
                 old_bias = numbers({1, shape.columns}, 7).float_rows();
    for (int64_t c = 0; c < shape.columns; ++c) {
      const auto column = static_cast<size_t>(c);
      double gain = old_gain[column], bias = old_bias[column];
      for (int64_t r = 0; r < shape.rows; ++r) {
        const auto i = static_cast<size_t>(r * shape.columns + c), row = static_cast<size_t>(2 * r);
        gain += double{dy[i]} * (double{x[i]} - statistics[row]) * statistics[row + 1];
        bias += double{dy[i]};
      }
      ASSERT_NEAR(g.gain[column], gain, 1e-5 * std::sqrt(static_cast<double>(shape.rows))) << "column " << c;
      ASSERT_NEAR(g.bias[column], bias, 1e-5 * std::sqrt(static_cast<double>(shape.rows))) << "column " << c;
    }
  }
}

// --- activations ------------------------------------------------------------------------------------

constexpr Activation activations[] = {Activation::none,      Activation::relu,         Activation::gelu,
                                      Activation::gelu_tanh, Activation::gelu_sigmoid, Activation::swish};

class Activations : public Rows {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Activations);

TEST_P(Activations, GradientsInBf16AreThoseOfTheSameFloats) {
  for (const Shape shape : shapes) {
    for (const Activation activation : activations) {
      // The general ones are one piece of code.
      if (shape.rows > 3 && activation > Activation::gelu) continue;
      for (const float rate : {0.0F, 0.3F}) {
        SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.columns << ", activation "
                                        << static_cast<int>(activation) << ", dropout " << rate);
        Numbers saved = numbers(shape, 1), floats = numbers(shape, 2), halves = numbers(shape, 2),
                both = numbers(shape, 2), mixed = numbers(shape, 2);
        Numbers of_floats = numbers({1, shape.columns}, 3), of_halves = numbers({1, shape.columns}, 3),
                of_both = numbers({1, shape.columns}, 3), of_mixed = numbers({1, shape.columns}, 3);
        const auto run = [&](ConstMatrix read, Matrix gradient, Numbers& bias) {
          kernels_.activation_backward(context_, activation, read, gradient, dropout(rate),
                                       bias.floats.data());
        };
        run(saved.in_floats(), floats.in_floats(), of_floats);
        run(saved.in_bf16(), halves.in_bf16(), of_halves);
        run(saved.in_both(), both.in_both(), of_both);
        run(saved.in_floats(), mixed.in_bf16(), of_mixed);
        EXPECT_EQ(halves.bf16_rows(), rounded(floats.float_rows()));
        EXPECT_EQ(mixed.bf16_rows(), rounded(floats.float_rows()));
        EXPECT_EQ(both.bf16_rows(), rounded(floats.float_rows()));
        EXPECT_TRUE(same_bits(both.float_rows(), floats.float_rows()));
        for (Numbers* bias : {&of_halves, &of_both, &of_mixed})
          EXPECT_TRUE(same_bits(bias->float_rows(), of_floats.float_rows()));
      }
    }
  }
}

TEST_P(Activations, RowsHaveTheSameBitsWhereverTheyBegin) {
  for (const Activation activation : activations) {
    for (const Shape shape : {Shape{9, 64}, Shape{9, 300}}) {
      Numbers saved = numbers(shape, 1), fours = numbers(shape, 2), apart = numbers(shape, 2, 1, 3);
      kernels_.activation_backward(context_, activation, saved.in_floats(), fours.in_floats(), dropout(0.2F),
                                   nullptr);
      kernels_.activation_backward(context_, activation, saved.in_floats(), apart.in_floats(), dropout(0.2F),
                                   nullptr);
      EXPECT_TRUE(same_bits(apart.float_rows(), fours.float_rows()));
      const Floats& all = apart.floats.values();
      EXPECT_EQ(std::ranges::count(all, beside), 3 + shape.rows) << "written beside a row";
    }
  }
}

TEST_P(Activations, TheBiasHasTheSumsOfWhatIsLeft) {
  for (const Shape shape : {Shape{130, 512}, Shape{100, 5}, Shape{27000, 4}}) {
    for (const Activation activation : {Activation::none, Activation::relu, Activation::swish}) {
      Numbers saved = numbers(shape, 1), gradient = numbers(shape, 2), bias = numbers({1, shape.columns}, 3);
      const Floats before = bias.float_rows();
      kernels_.activation_backward(context_, activation, saved.in_bf16(), gradient.in_floats(), {},
                                   bias.floats.data());
      const Floats left = gradient.float_rows(), after = bias.float_rows();
      for (int64_t c = 0; c < shape.columns; ++c) {
        double sum = before[static_cast<size_t>(c)];
        for (int64_t r = 0; r < shape.rows; ++r)
          sum += double{left[static_cast<size_t>(r * shape.columns + c)]};
        ASSERT_NEAR(after[static_cast<size_t>(c)], sum, 1e-5 * std::sqrt(static_cast<double>(shape.rows)));
      }
    }
  }
}

// --- copies -----------------------------------------------------------------------------------------

TEST_P(Rows, AreRoundedToTheSamePlaces) {
  for (const Shape shape : shapes) {
    for (const int64_t gap : {0, 3, 4}) {
      const Floats values = random_floats(shape.rows * (shape.columns + gap), 1);
      OnDevice<float> from(memory_, values);
      OnDevice<uint16_t> to(memory_, Halves(values.size(), 77));
      kernels_.low_precision.round(context_, {from.data(), shape.rows, shape.columns, shape.columns + gap},
                                   to.data());
      Halves expected = rounded(values);
      for (size_t i = 0; i < expected.size(); ++i)
        if (static_cast<int64_t>(i) % (shape.columns + gap) >= shape.columns) expected[i] = 77;
      EXPECT_EQ(to.values(), expected) << shape.rows << " x " << shape.columns << " and " << gap;
    }
  }
}

TEST_P(Rows, DropInBf16AsInFloats) {
  for (const Shape shape : shapes) {
    Numbers floats = numbers(shape, 1), halves = numbers(shape, 1);
    kernels_.drop(context_, dropout(0.3F), floats.in_floats());
    kernels_.drop(context_, dropout(0.3F), halves.in_bf16());
    EXPECT_EQ(halves.bf16_rows(), rounded(floats.float_rows())) << shape.rows << " x " << shape.columns;
  }
}

INSTANTIATE_TEST_SUITE_P(On, Rows, testing::ValuesIn(rounding_tables()), kernels_name);
INSTANTIATE_TEST_SUITE_P(On, Norms, testing::ValuesIn(rounding_tables()), kernels_name);
INSTANTIATE_TEST_SUITE_P(On, NormGradientsTest, testing::ValuesIn(rounding_tables()), kernels_name);
INSTANTIATE_TEST_SUITE_P(On, Activations, testing::ValuesIn(rounding_tables()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
