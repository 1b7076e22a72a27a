// Label smoothing against the articles' numbers. The distribution that a kernel smooths towards is read off its
// gradient: with equal logits that is 1/V minus the target's row.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tensor/array.h"
#include "tensor/device.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

class Smoothed : public testing::TestWithParam<const Kernels*> {
 protected:
  struct Result {
    std::vector<float> gradient;
    float smoothed = 0, likelihood = 0;
  };
  Result run(const std::vector<float>& logits, int32_t target, Smoothing smoothing) {
    const auto words = static_cast<int64_t>(logits.size());
    const Array<float> on_device(device_.pool, logits), losses(device_.pool, 2);
    const Array<int32_t> targets(device_.pool, {&target, 1});
    device_.kernels.cross_entropy(device_.context, {on_device.data(), 1, words, words}, targets.data(),
                                  smoothing, true, losses.data());
    const std::vector<float> both = losses.download();
    return {on_device.download(), both[0], both[1]};
  }

  std::vector<double> distribution(size_t words, int32_t target, Smoothing smoothing) {
    std::vector<double> result;
    for (const float g : run(std::vector<float>(words), target, smoothing).gradient) {
      result.push_back(1.0 / static_cast<double>(words) - g);
    }
    return result;
  }

  Device device_{*GetParam(), 1};
};

void expect_near(const std::vector<double>& values, const std::vector<double>& wanted) {
  ASSERT_EQ(values.size(), wanted.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], wanted[i], 1e-6) << "word " << i;
}

// The Annotated Transformer's figure: five words of which the first is padding, smoothing 0.4. Its row for word 2
// is [0, 0.1333, 0.6, 0.1333, 0.1333]. Here no word is padding: its rows are those of the four real words.
TEST_P(Smoothed, TheAnnotatedTransformersFigure) {
  const Smoothing others = {0.4F, SmoothingOver::others};
  const double share = 0.4 / 3;
  expect_near(distribution(4, 2 - 1, others), {share, 0.6, share, share});
  expect_near(distribution(4, 1 - 1, others), {0.6, share, share, share});
  expect_near(distribution(4, 3 - 1, others), {share, share, 0.6, share});
}

// The same figure's numbers with five words that all count.
TEST_P(Smoothed, FiveWords) {
  expect_near(distribution(5, 2, {0.4F, SmoothingOver::others}), {0.1, 0.1, 0.6, 0.1, 0.1});
  expect_near(distribution(5, 2, {0.4F, SmoothingOver::all}), {0.08, 0.08, 0.68, 0.08, 0.08});
  expect_near(distribution(5, 2, {0.0F, SmoothingOver::others}), {0, 0, 1, 0, 0});
  expect_near(distribution(5, 2, {0.0F, SmoothingOver::all}), {0, 0, 1, 0, 0});
}

// ε over the others is ε·V/(V−1) over all: two names of one family.
TEST_P(Smoothed, TheTwoAreOneFamily) {
  const size_t words = 37;
  const float all = 0.1F * 37 / 36;
  expect_near(distribution(words, 5, {0.1F, SmoothingOver::others}),
              distribution(words, 5, {all, SmoothingOver::all}));
}

TEST_P(Smoothed, IsADistribution) {
  for (const SmoothingOver over : {SmoothingOver::all, SmoothingOver::others}) {
    for (const size_t words : {2, 11, 1000}) {
      double sum = 0;
      for (const double p : distribution(words, 1, {0.1F, over})) {
        EXPECT_GE(p, -1e-8);
        sum += p;
      }
      EXPECT_NEAR(sum, 1, 1e-5);
    }
  }
}

// The Annotated Transformer's second figure: KL divergence from smoothing 0.1 as the model puts x/(x+3) on the
// right one of four words. Cross-entropy is that plus the target's entropy, a constant.
TEST_P(Smoothed, ConfidenceIsPenalised) {
  const double share = 0.1 / 3;
  const double entropy = -0.9 * std::log(0.9) - 0.1 * std::log(share);
  const auto divergence = [&](double x) {
    const Result r = run({static_cast<float>(std::log(x)), 0, 0, 0}, 0, {0.1F, SmoothingOver::others});
    EXPECT_NEAR(r.likelihood, -std::log(x / (x + 3)), 1e-6);
    return r.smoothed - entropy;
  };
  EXPECT_NEAR(divergence(1), std::log(4) - entropy, 1e-6);  // 0.9514: nothing known
  EXPECT_NEAR(divergence(27), 0, 1e-6);                     // 27/30: as sure as it should be
  for (double x = 1; x < 100; ++x) {
    EXPECT_NEAR(divergence(x), 0.9 * std::log(0.9 * (x + 3) / x) + 0.1 * std::log(share * (x + 3)), 2e-6)
        << x;
  }
  EXPECT_GT(divergence(99), divergence(50));  // too sure
}

INSTANTIATE_TEST_SUITE_P(Every, Smoothed, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
