// Adam and AdamW against their algorithms in double precision, and the other passes over flat buffers and rows.
#include <cmath>
#include <limits>
#include <numeric>

#include "testing.h"

namespace dragoman {
namespace {

class Flat : public testing::TestWithParam<const Kernels*> {
 protected:
  const Kernels& kernels_ = *GetParam();
  Context context_{2};
};

struct AdamState {
  std::vector<double> weights, first, second;

  void step(const std::vector<float>& gradients, int t, double rate, double scale, double decay) {
    const double beta1 = 0.9F, beta2 = 0.98F, epsilon = 1e-6F;
    for (size_t i = 0; i < weights.size(); ++i) {
      const double g = double{gradients[i]} * scale;
      first[i] = beta1 * first[i] + (1 - beta1) * g;
      second[i] = beta2 * second[i] + (1 - beta2) * g * g;
      const double m = first[i] / (1 - std::pow(beta1, t)), v = second[i] / (1 - std::pow(beta2, t));
      weights[i] -= rate * (m / (std::sqrt(v) + epsilon) + decay * weights[i]);
    }
  }
};

TEST_P(Flat, AdamIsItsAlgorithm) {
  for (const size_t n : {size_t{1}, size_t{13}, size_t{70001}}) {  // the last: more than one task, and a tail
    const float decay = n == 13 ? 0 : 0.1F;
    std::vector<float> weights = random_floats(n, 1), first(n), second(n);
    AdamState wanted = {{weights.begin(), weights.end()}, std::vector<double>(n), std::vector<double>(n)};
    for (int t = 1; t <= 5; ++t) {
      std::vector<float> gradients = random_floats(n, 10 + static_cast<uint64_t>(t), -100, 100);
      gradients[0] = 0;  // a weight that nothing reaches
      const AdamStep step = {.learning_rate = 0.01F,
                             .beta1 = 0.9F,
                             .beta2 = 0.98F,
                             .epsilon = 1e-6F,
                             .correction1 = static_cast<float>(1 - std::pow(double{0.9F}, t)),
                             .correction2 = static_cast<float>(1 - std::pow(double{0.98F}, t)),
                             .weight_decay = decay};
      kernels_.adam(context_, static_cast<int64_t>(n), step, 0.01F, gradients.data(), weights.data(),
                    first.data(), second.data());
      wanted.step(gradients, t, 0.01F, 0.01F, decay);
    }
    for (size_t i = 0; i < n; ++i) {
      ASSERT_NEAR(weights[i], wanted.weights[i], 1e-6) << i << " of " << n;
      ASSERT_NEAR(first[i], wanted.first[i], 1e-6) << i << " of " << n;
      ASSERT_NEAR(second[i], wanted.second[i], 1e-6) << i << " of " << n;
    }
  }
}

TEST_P(Flat, SumOfSquares) {
  for (const size_t n : {size_t{0}, size_t{1}, size_t{31}, size_t{70001}}) {
    const std::vector<float> values = random_floats(n, 3);
    double wanted = 0;
    for (const float v : values) wanted += double{v} * double{v};
    EXPECT_NEAR(kernels_.sum_of_squares(context_, static_cast<int64_t>(n), values.data()), wanted,
                1e-5 * wanted + 1e-12);
  }
}

TEST_P(Flat, AddRows) {
  const std::vector<float> from = random_floats(5 * 19, 4), before = random_floats(5 * 23, 5);
  std::vector<float> to = before;
  kernels_.add(context_, {from.data(), 5, 17, 19, 1}, {to.data(), 5, 17, 23});
  for (size_t r = 0; r < 5; ++r) {
    for (size_t c = 0; c < 23; ++c) {
      EXPECT_EQ(to[r * 23 + c], c < 17 ? before[r * 23 + c] + from[r * 19 + c] : before[r * 23 + c]);
    }
  }
}

TEST_P(Flat, ScatterRows) {
  const std::vector<float> from = random_floats(3 * 21, 6);
  std::vector<float> to(7 * 21, 8.0F);
  const int32_t rows[] = {5, 0, 6};
  kernels_.scatter_rows(context_, {from.data(), 3, 21, 21, 1}, rows, {to.data(), 7, 21, 21});
  for (size_t r = 0; r < 7; ++r) {
    const int32_t* place = std::find(rows, rows + 3, static_cast<int32_t>(r));
    for (size_t c = 0; c < 21; ++c) {
      EXPECT_EQ(to[r * 21 + c], place == rows + 3 ? 8.0F : from[static_cast<size_t>(place - rows) * 21 + c]);
    }
  }
}

TEST_P(Flat, ArgMaxIsTheFirstOfTheLargest) {
  constexpr int64_t rows = 40, columns = 53;
  std::vector<float> values = random_floats(rows * columns, 7);
  std::vector<int32_t> wanted(rows), got(rows);
  for (int64_t r = 0; r < rows; ++r) {
    const size_t first = static_cast<size_t>(r * columns), place = static_cast<size_t>(r * 7 % columns);
    values[first + place] = 2;
    if (r % 2 == 0) values[first + columns - 1] = 2;  // an equal one, later
    wanted[static_cast<size_t>(r)] = static_cast<int32_t>(place);
  }
  kernels_.arg_max(context_, {values.data(), rows, columns, columns, 1}, got.data());
  EXPECT_EQ(got, wanted);
}

TEST_P(Flat, ArgMaxOfNegativesAndOfOne) {
  const std::vector<float> values = {-3, -1, -2, -std::numeric_limits<float>::infinity()};
  int32_t index = 9;
  kernels_.arg_max(context_, {values.data(), 1, 4, 4, 1}, &index);
  EXPECT_EQ(index, 1);
  kernels_.arg_max(context_, {values.data() + 3, 1, 1, 1, 1}, &index);
  EXPECT_EQ(index, 0);
}

// What is not a number must not send a reader beyond the row.
TEST_P(Flat, ArgMaxOfNoNumbers) {
  const std::vector<float> values(21, std::numeric_limits<float>::quiet_NaN());
  int32_t index = -1;
  kernels_.arg_max(context_, {values.data(), 1, 21, 21, 1}, &index);
  EXPECT_GE(index, 0);
  EXPECT_LT(index, 21);
}

INSTANTIATE_TEST_SUITE_P(On, Flat, testing::ValuesIn(every_instruction_set()), kernels_name);

}  // namespace
}  // namespace dragoman
