// LossesOfRows of rows of logits, of every width that a GPU's kernels treat in a way of its own: narrower than a warp's
// columns, as wide as what a block reads at once, wider; and rows that do not begin where four numbers can be read.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>

#include "kernels/nearest_bf16.h"
#include "kernels/on_device.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

struct LossesOfRows {
  std::vector<float> losses, gradient;  // two losses a row; the gradient has its stride
};

class Logits : public testing::TestWithParam<const Kernels*> {
 protected:
  static constexpr Smoothing smoothing = {0.1F, SmoothingOver::all};

  LossesOfRows run(const std::vector<float>& logits, int64_t columns, int64_t stride,
                   const std::vector<int32_t>& targets, bool gradient = true) {
    const auto rows = static_cast<int64_t>(targets.size());
    OnDevice<float> there(memory_, logits), losses(memory_, std::vector<float>(2 * targets.size(), 7));
    OnDevice<int32_t> words(memory_, targets);
    kernels_.cross_entropy(context_, {there.data(), rows, columns, stride}, words.data(), smoothing, gradient,
                           losses.data());
    return {losses.values(), there.values()};
  }

  std::vector<uint16_t> rounded_gradient(const std::vector<float>& logits, int64_t columns, int64_t stride,
                                         const std::vector<int32_t>& targets) {
    const auto rows = static_cast<int64_t>(targets.size());
    OnDevice<float> there(memory_, logits), losses(memory_, std::vector<float>(2 * targets.size()));
    OnDevice<int32_t> words(memory_, targets);
    OnDevice<uint16_t> rounded(memory_, std::vector<uint16_t>(logits.size(), 7));
    kernels_.cross_entropy(context_, {there.data(), rows, columns, stride, rounded.data()}, words.data(),
                           smoothing, true, losses.data());
    EXPECT_TRUE(same_bits(there.values(), logits)) << "the logits have changed";
    return rounded.values();
  }

  const Kernels& kernels_ = *GetParam();
  DeviceMemory& memory_ = kernels_.memory();
  const std::unique_ptr<Context> own_context_{kernels_.new_context(2)};
  Context& context_ = *own_context_;
};

// Of a row, by the formulas in double precision.
void expect_losses(std::span<const float> row, size_t target, std::span<const float> losses,
                   std::span<const float> gradient) {
  const double top = static_cast<double>(*std::ranges::max_element(row)), v = static_cast<double>(row.size());
  double sum = 0, all = 0;
  for (const float x : row) {
    sum += std::exp(static_cast<double>(x) - top);
    all += static_cast<double>(x) - top;
  }
  const double smoothed = static_cast<double>(0.1F), of_target = static_cast<double>(row[target]) - top;
  const double wanted = std::log(sum) - (1 - smoothed) * of_target - smoothed / v * all;
  EXPECT_NEAR(losses[0], wanted, 2e-6 * (10 + std::abs(wanted)));
  EXPECT_NEAR(losses[1], std::log(sum) - of_target, 2e-6 * (10 + std::abs(of_target)));
  for (size_t c = 0; c < row.size(); ++c) {
    const double q = (c == target ? 1 - smoothed : 0) + smoothed / v;
    const double p = std::exp(static_cast<double>(row[c]) - top) / sum;
    ASSERT_NEAR(gradient[c], p - q, 1e-8 + 1e-6 * std::max(p, q)) << "column " << c << " of " << row.size();
  }
}

struct RowShape {
  int64_t columns, stride;
};
constexpr RowShape row_shapes[] = {{1, 1},         {5, 8},         {5, 5},
                                   {1000, 1000},   {1000, 1003},   {32000, 32000},
                                   {32768, 32769}, {50001, 50001}, {65540, 65540}};

std::vector<int32_t> targets_of(const RowShape& shape) {
  return {0, static_cast<int32_t>(shape.columns / 2), static_cast<int32_t>(shape.columns - 1)};
}

TEST_P(Logits, LossesAndGradientsAreTheirFormulas) {
  for (const RowShape& shape : row_shapes) {
    const std::vector<int32_t> targets = targets_of(shape);
    const std::vector<float> logits = random_floats(3 * shape.stride, 1, -9, 9);
    const LossesOfRows found = run(logits, shape.columns, shape.stride, targets);
    for (size_t r = 0; r < 3; ++r) {
      const size_t begin = r * static_cast<size_t>(shape.stride),
                   columns = static_cast<size_t>(shape.columns);
      expect_losses(std::span(logits).subspan(begin, columns), static_cast<size_t>(targets[r]),
                    std::span(found.losses).subspan(2 * r, 2),
                    std::span(found.gradient).subspan(begin, columns));
      for (size_t c = columns; c < static_cast<size_t>(shape.stride); ++c)
        EXPECT_EQ(found.gradient[begin + c], logits[begin + c]) << "beyond the row's end";
    }
  }
}

TEST_P(Logits, TheRoundedGradientIsTheGradientRounded) {
  if (kernels_.low_precision.round == nullptr) GTEST_SKIP() << "writes floats alone";
  for (const RowShape& shape : row_shapes) {
    const std::vector<int32_t> targets = targets_of(shape);
    const std::vector<float> logits = random_floats(3 * shape.stride, 2, -9, 9);
    const LossesOfRows found = run(logits, shape.columns, shape.stride, targets);
    const std::vector<uint16_t> rounded = rounded_gradient(logits, shape.columns, shape.stride, targets);
    for (size_t i = 0; i < rounded.size(); ++i) {
      const bool beyond = static_cast<int64_t>(i) % shape.stride >= shape.columns;
      ASSERT_EQ(rounded[i], beyond ? 7 : nearest_bf16(found.gradient[i])) << i << ", " << shape.columns;
    }
  }
}

// The same logits in each row, of which some begin where four numbers can be read at once and others do not.
TEST_P(Logits, ARowsBitsDoNotDependOnItsPlace) {
  for (const RowShape& shape : row_shapes) {
    if (shape.stride == shape.columns) continue;
    const std::vector<float> row = random_floats(shape.columns, 3, -9, 9);
    std::vector<float> logits(static_cast<size_t>(5 * shape.stride), 100);
    for (int64_t r = 0; r < 5; ++r) std::ranges::copy(row, logits.begin() + r * shape.stride);
    const LossesOfRows found = run(logits, shape.columns, shape.stride, std::vector<int32_t>(5, 3));
    for (size_t r = 1; r < 5; ++r) {
      const size_t begin = r * static_cast<size_t>(shape.stride),
                   columns = static_cast<size_t>(shape.columns);
      EXPECT_TRUE(same_bits(std::span(found.losses).first(2), std::span(found.losses).subspan(2 * r, 2)));
      EXPECT_TRUE(same_bits(std::span(found.gradient).first(columns),
                            std::span(found.gradient).subspan(begin, columns)));
    }
  }
}

TEST_P(Logits, LogProbabilitiesAndTheLargestHaveTheBitsOfTheLoss) {
  for (const RowShape& shape : row_shapes) {
    const std::vector<int32_t> targets = targets_of(shape);
    const std::vector<float> logits = random_floats(3 * shape.stride, 4, -9, 9);
    const LossesOfRows found = run(logits, shape.columns, shape.stride, targets, false);
    OnDevice<float> log_p(memory_, logits), there(memory_, logits);
    kernels_.log_softmax(context_, {log_p.data(), 3, shape.columns, shape.stride});
    const int64_t count = std::min<int64_t>(shape.columns, 5);
    OnDevice<Element> largest(memory_, std::vector<Element>(static_cast<size_t>(3 * count)));
    kernels_.top_log_probabilities(context_, {there.data(), 3, shape.columns, shape.stride, 1}, count,
                                   largest.data());
    for (size_t r = 0; r < 3; ++r) {
      const std::span row =
          std::span(log_p.values())
              .subspan(r * static_cast<size_t>(shape.stride), static_cast<size_t>(shape.columns));
      EXPECT_EQ(row[static_cast<size_t>(targets[r])], -found.losses[2 * r + 1]) << shape.columns;
      std::vector<float> falling(row.begin(), row.end());
      std::ranges::sort(falling, std::greater());
      for (size_t n = 0; n < static_cast<size_t>(count); ++n) {
        const Element& leader = largest.values()[r * static_cast<size_t>(count) + n];
        EXPECT_EQ(leader.value, falling[n]) << shape.columns;
        EXPECT_EQ(leader.value, row[static_cast<size_t>(leader.column)]) << shape.columns;
      }
    }
  }
}

TEST_P(Logits, WordsThatCannotBeHaveNoProbability) {
  for (const RowShape& shape : row_shapes) {
    if (shape.columns < 5) continue;
    std::vector<float> logits = random_floats(shape.columns, 5, -9, 9);
    for (size_t c = 0; c < logits.size(); ++c)
      if (c % 5 != 3) logits[c] = never;
    const LossesOfRows found = run(logits, shape.columns, shape.columns, {3});
    double sum = 0;
    for (size_t c = 3; c < logits.size(); c += 5) sum += std::exp(static_cast<double>(logits[c] - logits[3]));
    EXPECT_NEAR(found.losses[1], std::log(sum), 2e-6 * (1 + std::log(sum)));
    EXPECT_EQ(found.losses[0], -never) << "a smoothed target asks for words that cannot be";
    EXPECT_EQ(found.gradient[0], -0.1F / static_cast<float>(shape.columns));
  }
}

// With a shortlist, each row is as wide as the widest of its batch.
TEST_P(Logits, WordsThatCannotBeBehindARowLeaveItsBits) {
  for (const auto& [own, wider] :
       {std::pair(900, 1500), std::pair(1024, 1025), std::pair(3000, 32000), std::pair(32768, 40001)}) {
    const auto columns = static_cast<size_t>(own);
    const std::vector<float> row = random_floats(own, 7, -9, 9);
    const auto found = [&](int64_t width) {
      std::vector<float> logits(static_cast<size_t>(width), never);
      std::ranges::copy(row, logits.begin());
      OnDevice<float> log_p(memory_, logits), there(memory_, logits);
      OnDevice<Element> largest(memory_, std::vector<Element>(5));
      kernels_.log_softmax(context_, {log_p.data(), 1, width, width});
      kernels_.top_log_probabilities(context_, {there.data(), 1, width, width, 1}, 5, largest.data());
      std::vector<float> values = log_p.values();
      values.resize(columns);
      for (const Element& each : largest.values()) values.push_back(each.value);
      return values;
    };
    EXPECT_TRUE(same_bits(found(own), found(wider))) << own << " of " << wider;
  }
}

// So much larger that e^(x − top) is infinite if the largest is looked for among the first columns alone.
TEST_P(Logits, TheLastColumnMayBeTheLargest) {
  for (const RowShape& shape : row_shapes) {
    std::vector<float> logits = random_floats(shape.columns, 6, -9, 9);
    logits.back() = 200;
    EXPECT_EQ(run(logits, shape.columns, shape.columns, {static_cast<int32_t>(shape.columns - 1)}).losses[1],
              0)
        << shape.columns;
  }
}

INSTANTIATE_TEST_SUITE_P(On, Logits, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
