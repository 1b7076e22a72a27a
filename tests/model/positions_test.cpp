// The positional tables against their formulas, written here once more as each article writes them, and against
// the first numbers that the articles' code gives.
#include "nn/positions.h"

#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman::internal {
namespace {

// The Annotated Transformer: the paper's formula in log space.
double annotated(int64_t position, int64_t column, int64_t d) {
  const int64_t even = column - column % 2;
  const double rate = std::exp(static_cast<double>(even) * -(std::log(10000.0) / static_cast<double>(d)));
  return column % 2 == 0 ? std::sin(static_cast<double>(position) * rate)
                         : std::cos(static_cast<double>(position) * rate);
}

// tensor2tensor: d/2 timescales from 1 to 10000 in geometric steps; all sines, then all cosines.
double tensor2tensor(int64_t position, int64_t column, int64_t d) {
  const int64_t timescales = d / 2;
  const double increment = std::log(10000.0) / static_cast<double>(std::max<int64_t>(timescales - 1, 1));
  const double angle =
      static_cast<double>(position) * std::exp(static_cast<double>(column % timescales) * -increment);
  return column < timescales ? std::sin(angle) : std::cos(angle);
}

// Hugging Face's Marian: the paper's angles; all sines, then all cosines.
double halves(int64_t position, int64_t column, int64_t d) {
  return annotated(position, column < d / 2 ? 2 * column : 2 * (column - d / 2) + 1, d);
}

// "How to code The Transformer in PyTorch" and those after it: the column itself stands where the paper has i.
double raw_index(int64_t position, int64_t column, int64_t d) {
  const double angle = static_cast<double>(position) /
                       std::pow(10000.0, static_cast<double>(2 * column) / static_cast<double>(d));
  return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

struct Formula {
  const char* name;
  Positions kind;
  double (*value)(int64_t position, int64_t column, int64_t d);
};
void PrintTo(const Formula& formula, std::ostream* out) { *out << formula.name; }

class PositionFormula : public testing::TestWithParam<Formula> {};

TEST_P(PositionFormula, HoldsInEveryEntry) {
  for (const int64_t d : {2, 4, 18, 20, 512}) {
    Pool pool;
    PositionTable table(GetParam().kind, d);
    const Tensor& rows = table.rows(pool, 600);
    ASSERT_GE(rows.rows(), 600);
    ASSERT_EQ(rows.columns(), d);
    for (int64_t p = 0; p < 600; ++p) {
      for (int64_t c = 0; c < d; ++c) {
        // Half a unit in the last place of a float below 1, and the angle's own rounding.
        ASSERT_NEAR(rows.data()[p * d + c], GetParam().value(p, c, d), 3.1e-8)
            << "row " << p << ", column " << c << " of " << d;
      }
    }
  }
}

TEST_P(PositionFormula, HoldsFarAway) {
  for (const int64_t p : {5000, 100'000, 1'000'000}) {
    for (int64_t c = 0; c < 64; ++c) {
      EXPECT_NEAR(position_value(GetParam().kind, p, c, 64), GetParam().value(p, c, 64), 1e-8);
    }
  }
}

// A table grows with what is asked of it, and its first rows stay as they are.
TEST_P(PositionFormula, AnyLength) {
  Pool pool;
  PositionTable table(GetParam().kind, 16);
  const Tensor few = table.rows(pool, 3);
  const std::vector<float> before(few.data(), few.data() + 3 * 16);
  const Tensor& many = table.rows(pool, 5000);
  ASSERT_GE(many.rows(), 5000);
  EXPECT_EQ(before, std::vector<float>(many.data(), many.data() + 3 * 16));
  EXPECT_EQ(before, std::vector<float>(few.data(), few.data() + 3 * 16)) << "the old table is still held";
  EXPECT_NEAR(many.data()[4999 * 16 + 5], GetParam().value(4999, 5, 16), 3.1e-8);
}

// As where a program numbers the first position 2.
TEST_P(PositionFormula, BeginsWhereItIsTold) {
  Pool pool;
  PositionTable table(GetParam().kind, 16, 2);
  const Tensor& rows = table.rows(pool, 300);
  for (const int64_t p : {0, 1, 299}) {
    for (int64_t c = 0; c < 16; ++c)
      EXPECT_NEAR(rows.data()[p * 16 + c], GetParam().value(p + 2, c, 16), 3.1e-8);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PositionFormula,
                         testing::Values(Formula{"sinusoidal", Positions::sinusoidal, annotated},
                                         Formula{"halves", Positions::halves, halves},
                                         Formula{"tensor2tensor", Positions::tensor2tensor, tensor2tensor},
                                         Formula{"raw_index", Positions::raw_index, raw_index}),
                         [](const auto& test) { return test.param.name; });

std::vector<double> row(Positions kind, int64_t position, const std::vector<int64_t>& columns) {
  std::vector<double> values;
  for (const int64_t c : columns) values.push_back(position_value(kind, position, c, 512));
  return values;
}

void expect_printed(const std::vector<double>& values, const std::vector<double>& four_digits) {
  ASSERT_EQ(values.size(), four_digits.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], four_digits[i], 5e-5) << "number " << i;
}

// What one sees first when one prints the tables for d_model 512.
TEST(Positions, FirstNumbersOfTheArticles) {
  expect_printed(row(Positions::sinusoidal, 0, {0, 1, 2, 3, 510, 511}), {0, 1, 0, 1, 0, 1});
  expect_printed(row(Positions::sinusoidal, 1, {0, 1, 2, 3, 4, 5, 510, 511}),
                 {0.8415, 0.5403, 0.8219, 0.5697, 0.8020, 0.5974, 0.0001, 1.0});
  expect_printed(row(Positions::sinusoidal, 2, {0, 1, 2, 3}), {0.9093, -0.4161, 0.9364, -0.3509});
  expect_printed(row(Positions::raw_index, 0, {0, 1, 2, 3}), {0, 1, 0, 1});
  expect_printed(row(Positions::raw_index, 1, {0, 1, 2, 3}), {0.8415, 0.5697, 0.8020, 0.6234});
  expect_printed(row(Positions::halves, 1, {0, 1, 255, 256, 257, 511}),
                 {0.8415, 0.8219, 0.0001, 0.5403, 0.5697, 1.0});
  expect_printed(row(Positions::tensor2tensor, 1, {0, 1, 255, 256, 257, 511}),
                 {0.8415, 0.8218, 0.0001, 0.5403, 0.5698, 1.0});
}

// Where the tables part: the paper's rates end just above 1/10000, tensor2tensor's at it, and with the raw index
// the second half of the columns is all but still.
TEST(Positions, SlowestRates) {
  const auto rate = [](Positions kind, int64_t column) {
    return std::asin(position_value(kind, 1, column, 512));
  };
  EXPECT_NEAR(rate(Positions::sinusoidal, 510) * 10000, std::pow(10000.0, 2.0 / 512), 1e-9);
  EXPECT_NEAR(rate(Positions::tensor2tensor, 255) * 10000, 1, 1e-9);
  EXPECT_NEAR(rate(Positions::raw_index, 256) * 10000, 1, 1e-9);
  EXPECT_LT(rate(Positions::raw_index, 510), 2e-8);
}

// The paper's reason for sines: a step of k positions is a rotation of each pair, the same wherever it starts.
// The raw index breaks it, because the two of a pair turn at different rates.
TEST(Positions, AStepIsARotation) {
  const auto error = [](Positions kind, int64_t sine, int64_t cosine, double rate) {
    const int64_t k = 7;
    double largest = 0;
    for (int64_t p = 0; p < 100; ++p) {
      const double s = position_value(kind, p, sine, 64), c = position_value(kind, p, cosine, 64);
      const double turned = s * std::cos(rate * k) + c * std::sin(rate * k);
      largest = std::max(largest, std::abs(turned - position_value(kind, p + k, sine, 64)));
    }
    return largest;
  };
  for (int64_t i = 0; i < 32; ++i) {
    const double d = 64, x = static_cast<double>(i);
    EXPECT_LT(error(Positions::sinusoidal, 2 * i, 2 * i + 1, std::pow(10000, -2 * x / d)), 1e-12);
    EXPECT_LT(error(Positions::tensor2tensor, i, 32 + i, std::pow(10000, -x / 31)), 1e-12);
  }
  EXPECT_GT(error(Positions::raw_index, 2, 3, std::pow(10000, -4.0 / 64)), 0.1);
}

TEST(Positions, LearnedAreAParameterOfFixedLength) {
  Pool pool;
  Parameters parameters(pool);
  PositionTable table(Positions::learned,
                      parameters.declare("positions", 5, 4, {.kind = Initial::Kind::normal, .amount = 1}));
  parameters.allocate(Buffers::weights_and_gradients);
  parameters.initialise(1);
  EXPECT_EQ(table.rows(pool, 5).data(), parameters.list()[0].value.data());
  EXPECT_EQ(table.rows(pool, 1).rows(), 5);
  try {
    table.rows(pool, 6);
    FAIL() << "six positions of five";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("max_positions"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace dragoman::internal
