// Activations' gradients, and on tables whose matrices may be in bf16 alone dropout, rounding and the ends of products,
// as norm_rows_test.cpp tests norms.
#include "kernels/rows.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace dragoman::internal {
namespace {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Rows);

// --- activations ------------------------------------------------------------------------------------

constexpr Activation activations[] = {Activation::none,      Activation::relu,         Activation::gelu,
                                      Activation::gelu_tanh, Activation::gelu_sigmoid, Activation::swish};

class Activations : public Rows {};

TEST_P(Activations, GradientsInBf16AreThoseOfTheSameFloats) {
  if (!has_bf16()) GTEST_SKIP() << "has floats alone";
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
      kernels_.activation_backward(context_, activation, has_bf16() ? saved.in_bf16() : saved.in_floats(),
                                   gradient.in_floats(), {}, bias.floats.data());
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

TEST_P(Rows, OfAProductEndWithTheirOwnColumnsBias) {
  for (const int64_t columns : {100, 1088}) {
    Numbers a = numbers({3, 8}, 1), b = numbers({8, columns}, 2), bias = numbers({1, columns}, 3),
            plain = numbers({3, columns}, 4), ended = numbers({3, columns}, 5);
    kernels_.products.multiply(context_, a.in_floats(), b.in_floats(), plain.in_floats(), {});
    kernels_.products.multiply(context_, a.in_floats(), b.in_floats(), ended.in_both(),
                               {.bias = bias.floats.data(), .activation = Activation::swish});
    const Floats before = plain.float_rows(), after = ended.float_rows(), added = bias.float_rows();
    for (size_t i = 0; i < before.size(); ++i) {
      const double x = double{before[i]} + added[i % added.size()];
      ASSERT_NEAR(after[i], x / (1 + std::exp(-x)), 1e-5) << "element " << i << " of " << columns;
    }
    EXPECT_EQ(ended.bf16_rows(), rounded(after));
  }
}

INSTANTIATE_TEST_SUITE_P(On, Rows, testing::ValuesIn(rounding_tables()), kernels_name);
INSTANTIATE_TEST_SUITE_P(On, Activations, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
