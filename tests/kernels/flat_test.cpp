// Adam and AdamW against their algorithms in double precision, and the other passes over flat buffers and rows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <span>

#include "kernels/on_device.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

class Flat : public testing::TestWithParam<const Kernels*> {
 protected:
  using Floats = std::vector<float>;

  template <class T>
  OnDevice<T> on_device(std::vector<T> values) {
    return {memory_, std::move(values)};
  }
  std::vector<Element> top(ConstMatrix rows, int64_t count) {
    auto lists = on_device(std::vector<Element>(static_cast<size_t>(rows.rows * count)));
    kernels_.top(context_, rows, count, lists.data());
    return lists.values();
  }
  std::vector<Element> top_log_probabilities(ConstMatrix rows, int64_t count) {
    auto lists = on_device(std::vector<Element>(static_cast<size_t>(rows.rows * count)));
    kernels_.top_log_probabilities(context_, rows, count, lists.data());
    return lists.values();
  }
  Floats log_softmax(const Floats& logits, int64_t rows, int64_t columns, int64_t stride) {
    auto log_p = on_device(logits);
    kernels_.log_softmax(context_, {log_p.data(), rows, columns, stride});
    return log_p.values();
  }

  const Kernels& kernels_ = *GetParam();
  DeviceMemory& memory_ = kernels_.memory();
  const std::unique_ptr<Context> own_context_{kernels_.new_context(2)};
  Context& context_ = *own_context_;
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
    const Floats start = random_floats(n, 1);
    auto weights_there = on_device(start), first_there = on_device(Floats(n)),
         second_there = on_device(Floats(n));
    AdamState wanted = {{start.begin(), start.end()}, std::vector<double>(n), std::vector<double>(n)};
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
      kernels_.adam(context_, static_cast<int64_t>(n), step, 0.01F, on_device(gradients).data(),
                    weights_there.data(), first_there.data(), second_there.data());
      wanted.step(gradients, t, 0.01F, 0.01F, decay);
    }
    const Floats weights = weights_there.values(), first = first_there.values(),
                 second = second_there.values();
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
    EXPECT_NEAR(kernels_.sum_of_squares(context_, static_cast<int64_t>(n), on_device(values).data()), wanted,
                1e-5 * wanted + 1e-12);
  }
}

TEST_P(Flat, PicksColumnsOfEachRow) {
  const std::vector<float> from = random_floats(3 * 19, 4);
  auto numbers = on_device(std::vector<int32_t>{16, 0, 3, 3, 7});
  auto lists = on_device(
      std::vector<ColumnList>{{numbers.data(), 5}, {numbers.data() + 1, 0}, {numbers.data() + 2, 2}});
  auto picked = on_device(std::vector<float>(3 * 6, 1));
  kernels_.pick_columns(context_, {on_device(from).data(), 3, 17, 19, 1}, lists.data(),
                        {picked.data(), 3, 5, 6});
  const float none = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(picked.values(), (Floats{from[16], from[0], from[3], from[3], from[7], 1,  //
                                     none, none, none, none, none, 1,                  //
                                     from[38 + 3], from[38 + 3], none, none, none, 1}));
}

TEST_P(Flat, AddRows) {
  const std::vector<float> from = random_floats(5 * 19, 4), before = random_floats(5 * 23, 5);
  for (const float factor : {1.0F, -0.5F}) {
    auto sum = on_device(before);
    kernels_.add(context_, factor, {on_device(from).data(), 5, 17, 19, 1}, {sum.data(), 5, 17, 23});
    const Floats to = sum.values();
    for (size_t r = 0; r < 5; ++r) {
      for (size_t c = 0; c < 23; ++c) {
        const float own = before[r * 23 + c];
        EXPECT_EQ(to[r * 23 + c], c < 17 ? own + factor * from[r * 19 + c] : own);
      }
    }
  }
}

TEST_P(Flat, WhatIsExcludedStaysSoWhateverIsAdded) {
  const float none = -std::numeric_limits<float>::infinity();
  auto sum = on_device(std::vector<float>{none, none});
  kernels_.add(context_, 0.5F, {on_device(std::vector<float>{-3, none}).data(), 1, 2, 2, 1},
               {sum.data(), 1, 2, 2});
  EXPECT_EQ(sum.values(), (Floats{none, none}));
}

// Against its formula, in double precision.
TEST_P(Flat, PolynomialsAreTheirFormula) {
  for (const int64_t n : {int64_t{1}, int64_t{8}, int64_t{45}, int64_t{130}}) {
    const size_t size = static_cast<size_t>(n * n);
    const Floats values = random_floats(size, 11);
    std::vector<double> a(size), square(size);
    const auto product = [&](auto element, auto& to) {
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < n; ++k) sum += element(i, k) * element(j, k);
          to[static_cast<size_t>(i * n + j)] = sum;
        }
      }
    };
    product([&](int64_t i, int64_t k) { return double{values[static_cast<size_t>(i * n + k)]}; }, a);
    product([&](int64_t i, int64_t k) { return a[static_cast<size_t>(i * n + k)]; }, square);
    double trace = 0;
    for (int64_t i = 0; i < n; ++i) trace += square[static_cast<size_t>(i * (n + 1))];
    // Three matrices, one below the other: a, 2a and 3a.
    Floats as, squares;
    for (const double factor : {1, 2, 3}) {
      for (const double value : a) as.push_back(static_cast<float>(factor * value));
      for (const double value : square) squares.push_back(static_cast<float>(factor * factor * value));
    }
    for (const bool of_unit_norm : {false, true}) {
      auto out = on_device(Floats(3 * size));
      kernels_.polynomial(context_, {3, -2, 0.5F, of_unit_norm}, {on_device(as).data(), 3 * n, n, n, 1},
                          {on_device(squares).data(), 3 * n, n, n, 1}, {out.data(), 3 * n, n, n});
      const Floats found = out.values();
      for (size_t i = 0; i < 3 * size; ++i) {
        const auto factor = static_cast<double>(i / size + 1);
        const double norm = of_unit_norm ? factor * std::sqrt(trace) : 1;
        const double identity = i % size % static_cast<size_t>(n + 1) == 0 ? 1 : 0;
        const double x = factor * a[i % size] / norm, y = factor * factor * square[i % size] / (norm * norm);
        const double wanted = (3 * identity - 2 * x + 0.5 * y) / std::sqrt(norm);
        ASSERT_NEAR(found[i], wanted, 1e-5 * (std::abs(wanted) + std::abs(x) + std::abs(y) + 1))
            << i << " of " << n;
      }
    }
  }
}

TEST_P(Flat, PolynomialsOfZerosAreFinite) {
  auto out = on_device(Floats(9));
  const Floats nothing(9);
  kernels_.polynomial(context_, {3, -2, 0.5F, true}, {on_device(nothing).data(), 3, 3, 3, 1},
                      {on_device(nothing).data(), 3, 3, 3, 1}, {out.data(), 3, 3, 3});
  for (const float value : out.values()) EXPECT_TRUE(std::isfinite(value));
}

TEST_P(Flat, ScatterRows) {
  const std::vector<float> from = random_floats(3 * 21, 6);
  const std::vector<int32_t> rows = {5, 0, 6};
  auto scattered = on_device(Floats(7 * 21, 8));
  kernels_.scatter_rows(context_, {on_device(from).data(), 3, 21, 21, 1}, on_device(rows).data(),
                        {scattered.data(), 7, 21, 21});
  const Floats to = scattered.values();
  for (size_t r = 0; r < 7; ++r) {
    const auto place = std::ranges::find(rows, static_cast<int32_t>(r));
    for (size_t c = 0; c < 21; ++c) {
      EXPECT_EQ(to[r * 21 + c],
                place == rows.end() ? 8.0F : from[static_cast<size_t>(place - rows.begin()) * 21 + c]);
    }
  }
}

TEST_P(Flat, GatherRows) {
  const std::vector<float> from = random_floats(6 * 25, 9);
  const std::vector<int32_t> rows = {5, 0, 3, 5};
  auto gathered = on_device(Floats(4 * 30, 8));
  kernels_.gather_rows(context_, {on_device(from).data(), 6, 21, 25, 1}, on_device(rows).data(),
                       {gathered.data(), 4, 21, 30});
  const Floats to = gathered.values();
  for (size_t r = 0; r < 4; ++r) {
    for (size_t c = 0; c < 30; ++c)
      EXPECT_EQ(to[r * 30 + c], c < 21 ? from[static_cast<size_t>(rows[r]) * 25 + c] : 8.0F);
  }
}

TEST_P(Flat, TopIsSortedAndTheFirstOfEqualsLeads) {
  constexpr int64_t rows = 40, columns = 53;
  std::vector<float> values = random_floats(rows * columns, 7);
  std::vector<int32_t> wanted;
  for (int64_t r = 0; r < rows; ++r) {
    const size_t first = static_cast<size_t>(r * columns), place = static_cast<size_t>(r * 7 % columns);
    values[first + place] = 2;
    if (r % 2 == 0) values[first + columns - 1] = 2;  // an equal one, later
    wanted.push_back(static_cast<int32_t>(place));
  }
  const std::vector<Element> got = top({on_device(values).data(), rows, columns, columns, 1}, 1);
  EXPECT_TRUE(std::ranges::equal(got, wanted, {}, &Element::column));
}

// Many more columns than the kernel's blocks have, and values that occur again and again.
TEST_P(Flat, TopIsWhatSortingGives) {
  constexpr int64_t rows = 5, columns = 700;
  std::vector<float> values = random_floats(rows * columns, 8);
  for (size_t i = 0; i < values.size(); i += 3) values[i] = std::round(values[i] * 20) / 20;
  auto there = on_device(values);
  for (const int64_t count : {1, 5, 64, 700}) {
    const std::vector<Element> got = top({there.data(), rows, columns, columns, 1}, count);
    for (int64_t r = 0; r < rows; ++r) {
      std::vector<int32_t> sorted(columns);
      std::iota(sorted.begin(), sorted.end(), 0);
      std::ranges::stable_sort(sorted, std::greater{},
                               [&](int32_t c) { return values[static_cast<size_t>(r * columns + c)]; });
      sorted.resize(static_cast<size_t>(count));
      const std::span list = std::span(got).subspan(static_cast<size_t>(r * count), sorted.size());
      EXPECT_TRUE(std::ranges::equal(list, sorted, {}, &Element::column))
          << "row " << r << ", the first " << count;
      for (const Element& e : list) EXPECT_EQ(e.value, values[static_cast<size_t>(r * columns + e.column)]);
    }
  }
}

// Logits that lie close together: many that differ become equal log-probabilities.
TEST_P(Flat, TopOfLogitsIsThatOfLogProbabilities) {
  constexpr int64_t rows = 5, stride = 703;
  for (const float width : {9.0F, 1e-6F}) {
    const std::vector<float> logits = random_floats(rows * stride, 10, -width, width);
    auto there = on_device(logits);
    for (const int64_t columns : {1, 64, 77, 700}) {
      auto log_p = on_device(log_softmax(logits, rows, columns, stride));
      for (const int64_t count : {1, 4, 100}) {
        const std::vector<Element> wanted = top({log_p.data(), rows, columns, stride, 1}, count);
        const std::vector<Element> got =
            top_log_probabilities({there.data(), rows, columns, stride, 1}, count);
        for (size_t i = 0; i < wanted.size(); ++i) {
          EXPECT_EQ(got[i].column, wanted[i].column) << columns << " columns, place " << i;
          EXPECT_EQ(got[i].value, wanted[i].value);
        }
      }
    }
  }
}

// A row with a single NaN has no likeliest word: one that could not be said would go unnoticed.
TEST_P(Flat, NothingIsTheLikeliestBesideWhatIsNoNumber) {
  constexpr int64_t columns = 700;
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const size_t place : {0, 1, 63, 64, 350, 698, 699}) {
      std::vector<float> logits = random_floats(2 * columns, 10, -9, 9);
      logits[columns + place] = wrong;
      const std::vector<Element> found =
          top_log_probabilities({on_device(logits).data(), 2, columns, columns, 1}, 3);
      for (size_t i = 0; i < 6; ++i) EXPECT_EQ(found[i].column >= 0, i < 3) << wrong << " at " << place;
      const Floats log_p = log_softmax(logits, 2, columns, columns);
      const auto row = std::span(log_p).subspan(columns);
      EXPECT_TRUE(std::isfinite(log_p[place]));
      EXPECT_TRUE(std::ranges::none_of(row, [](float x) { return std::isfinite(x); }))
          << wrong << " at " << place;
    }
  }
}

TEST_P(Flat, LogSoftmaxHasTheBitsOfTheLoss) {
  constexpr int64_t rows = 6, columns = 77;
  const std::vector<float> logits = random_floats(rows * columns, 9, -9, 9);
  const Floats log_p = log_softmax(logits, rows, columns, columns);
  auto losses_there = on_device(Floats(2 * rows));
  for (int32_t target : {0, 40, 76}) {
    auto targets = on_device(std::vector<int32_t>(rows, target));
    kernels_.cross_entropy(context_, {on_device(logits).data(), rows, columns, columns}, targets.data(), {},
                           false, losses_there.data());
    const Floats losses = losses_there.values();
    for (size_t r = 0; r < rows; ++r)
      EXPECT_EQ(log_p[r * columns + static_cast<size_t>(target)], -losses[2 * r + 1]);
  }
  double sum = 0;
  for (size_t c = 0; c < columns; ++c) sum += std::exp(static_cast<double>(log_p[c]));
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST_P(Flat, MixedProbabilitiesAreTheirMean) {
  constexpr float never = -std::numeric_limits<float>::infinity();
  constexpr size_t rows = 3, columns = 77;
  std::vector<float> first = random_floats(rows * columns, 5, -60, 0);
  std::vector<float> second = random_floats(rows * columns, 6, -60, 0);
  first[0] = second[0] = first[1] = second[2] = never;
  second[4] = first[4], second[5] = first[5] = 0;
  for (const float share : {0.5F, 0.25F}) {
    auto both = on_device(first);
    kernels_.mix_log_probabilities(context_, {on_device(second).data(), rows, columns, columns, 1}, share,
                                   {both.data(), rows, columns, columns});
    const Floats mixed = both.values();
    EXPECT_EQ(mixed[0], never);
    for (size_t i = 1; i < mixed.size(); ++i) {
      const double a = static_cast<double>(first[i]), b = static_cast<double>(second[i]);
      const double mean =
          (1 - static_cast<double>(share)) * std::exp(a) + static_cast<double>(share) * std::exp(b);
      EXPECT_NEAR(mixed[i], std::log(mean), 1e-6 * std::max(1.0, -std::log(mean))) << a << " and " << b;
    }
  }
}

TEST_P(Flat, MixedWithANaNAProbabilityIsNone) {
  constexpr size_t columns = 37;
  constexpr float none = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> first(columns, -2.0F), second(columns, -3.0F);
  first[0] = second[20] = first[36] = second[36] = none;
  first[1] = first[20] = -std::numeric_limits<float>::infinity();
  auto both = on_device(first);
  kernels_.mix_log_probabilities(context_, {on_device(second).data(), 1, columns, columns, 1}, 0.5F,
                                 {both.data(), 1, columns, columns});
  const Floats mixed = both.values();
  for (size_t i = 0; i < columns; ++i) EXPECT_EQ(std::isnan(mixed[i]), i == 0 || i == 20 || i == 36) << i;
}

// What is not a number must not send a reader beyond the row.
TEST_P(Flat, TopPassesOverWhatCannotBe) {
  constexpr float never = -std::numeric_limits<float>::infinity();
  const std::vector<float> values = {never, -3, never, -1, never};
  const auto columns_of = [&](const std::vector<float>& row) {
    const auto size = static_cast<int64_t>(row.size());
    std::vector<int32_t> columns;
    for (const Element& e : top({on_device(row).data(), 1, size, size, 1}, 4)) columns.push_back(e.column);
    return columns;
  };
  EXPECT_EQ(columns_of(values), (std::vector{3, 1, -1, -1}));
  const std::vector<float> nothing(210, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(columns_of(nothing), (std::vector{-1, -1, -1, -1}));
}

INSTANTIATE_TEST_SUITE_P(On, Flat, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
