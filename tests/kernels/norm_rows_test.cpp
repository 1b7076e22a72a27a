// Norms and their backward. On tables whose matrices may be in bf16 alone they give what they give for the same numbers
// in floats, rounded once; and rows that cannot be read in fours get the bits of those that can.
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/rows.h"

namespace dragoman::internal {
namespace {

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

TEST_P(Norms, InBf16AreThoseOfTheSameFloats) {
  if (!has_bf16()) GTEST_SKIP() << "has floats alone";
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

// Else it might be lost in what is computed from the row, or go unseen in the columns that are looked at.
TEST_P(Norms, AreNowhereFiniteWhereTheVarianceIsNot) {
  for (const Shape shape : {Shape{2, 64}, Shape{2, 700}, Shape{2, 1030}}) {
    for (const bool centred : {true, false}) {
      for (const float large : {1e20F, std::numeric_limits<float>::infinity()}) {
        Numbers residual = numbers(shape, 1), sum = numbers(shape, 3), normed = numbers(shape, 4);
        Numbers gain = numbers({1, shape.columns}, 5), bias = numbers({1, shape.columns}, 6);
        OnDevice<float> statistics(memory_, Floats(static_cast<size_t>(2 * shape.rows)));
        const Matrix rows = residual.in_floats();
        memory_.fill({rows.data + shape.columns - 1, 1, 1, 1}, large);
        kernels_.add_dropout_norm(context_, rows, ConstMatrix(), dropout(0, 0), gain.floats.data(),
                                  centred ? bias.floats.data() : nullptr, 1e-5F, sum.in_floats(),
                                  normed.in_floats(), statistics.data());
        const Floats found = normed.float_rows();
        for (int64_t c = 0; c < shape.columns; ++c) {
          EXPECT_TRUE(std::isnan(found[static_cast<size_t>(c)]))
              << c << " of " << shape.columns << ", " << large;
          EXPECT_TRUE(std::isfinite(found[static_cast<size_t>(shape.columns + c)])) << "of another row";
        }
      }
    }
  }
}

TEST_P(Norms, OfHeadsAreNowhereFiniteWhereTheirMeanSquareIsNot) {
  constexpr int64_t width = 20;
  Numbers heads = numbers({2, 3 * width}, 1);
  const Matrix rows = heads.in_floats();
  memory_.fill({rows.data + width + 7, 1, 1, 1}, 1e20F);  // of the second head
  OnDevice<float> factors(memory_, Floats(6));
  kernels_.normalise_heads(context_, width, 1e-5F, rows, factors.data());
  const Floats found = heads.float_rows();
  for (size_t c = 0; c < found.size(); ++c) EXPECT_EQ(std::isnan(found[c]), c / width == 1) << c;
}

TEST_P(Norms, HaveTheSameBitsWhereverRowsBegin) {
  for (const Shape shape : {Shape{3, 64}, Shape{3, 100}, Shape{2, 512}, Shape{2, 700}, Shape{2, 1024}}) {
    SCOPED_TRACE(shape.columns);
    const Normed fours = norm(shape, In::floats, In::floats, true);
    for (const auto [gap, offset] : row_places) {
      const Normed other = norm(shape, In::floats, In::floats, true, gap, offset);
      EXPECT_TRUE(same_bits(other.sum, fours.sum));
      EXPECT_TRUE(same_bits(other.statistics, fours.statistics));
      EXPECT_TRUE(same_bits(other.normed, fours.normed));
    }
  }
}

TEST_P(Norms, ARowDoesNotDependOnOthers) {
  const In in = has_bf16() ? In::bf16 : In::floats;
  const auto output = [&](const Normed& of) { return has_bf16() ? widened(of.rounded) : of.normed; };
  for (const int64_t columns : {5, 512, 1088}) {
    const Floats all = output(norm({6, columns}, in, in, true));
    for (int64_t r = 0; r < 6; ++r) {
      // Random numbers are drawn in order, so that the rows before it are the same.
      const Floats one = output(norm({1, columns}, in, in, true, 0, 0, r));
      const auto begin = all.begin() + r * columns;
      EXPECT_TRUE(same_bits(one, Floats(begin, begin + columns))) << "row " << r << " of " << columns;
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
                          bool in_place = false, int64_t gap = 0, int64_t offset = 0) {
    Numbers sum = numbers(shape, 1, gap, offset), normed = numbers(shape, 2, gap, offset),
            branch = numbers(shape, 4, gap, offset), target = numbers(shape, 3, gap, offset);
    Numbers gain = numbers({1, shape.columns}, 5), of_gain = numbers({1, shape.columns}, 6),
            of_bias = numbers({1, shape.columns}, 7);
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

TEST_P(NormGradientsTest, InBf16AreThoseOfTheSameFloats) {
  if (!has_bf16()) GTEST_SKIP() << "has floats alone";
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

// The sums for gain and bias alone are added in another order.
TEST_P(NormGradientsTest, HaveTheSameBitsWhereverRowsBegin) {
  for (const Shape shape : {Shape{11, 64}, Shape{3, 100}, Shape{2, 512}, Shape{2, 700}, Shape{2, 1024}}) {
    for (const bool accumulate : {false, true}) {
      SCOPED_TRACE(shape.columns);
      const NormGradients fours = gradients(shape, In::floats, In::floats, accumulate, true);
      for (const auto [gap, offset] : row_places) {
        const NormGradients other =
            gradients(shape, In::floats, In::floats, accumulate, true, false, gap, offset);
        EXPECT_TRUE(same_bits(other.sum, fours.sum));
        EXPECT_TRUE(same_bits(other.branch, fours.branch));
      }
    }
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

INSTANTIATE_TEST_SUITE_P(On, Norms, testing::ValuesIn(every_table()), kernels_name);
INSTANTIATE_TEST_SUITE_P(On, NormGradientsTest, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
