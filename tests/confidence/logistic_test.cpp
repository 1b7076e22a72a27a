// Logistic regression and what measures it, against scikit-learn and SciPy (make_golden.py).
#include "confidence/logistic.h"

#include <cmath>
#include <numeric>
#include <string_view>

#include <gtest/gtest.h>

#include "base/random.h"
#include "confidence/reliability.h"

namespace dragoman::internal {
namespace {

// The cases of make_golden.py.
FeatureRows golden_cases() {
  FeatureRows rows(3);
  uint64_t state = 1;
  const auto next = [&] {
    state = state * 48271 % 2147483647;
    return static_cast<double>(state) / 2147483647.0;
  };
  for (int row = 0; row < 60; ++row) {
    const double a = next(), b = next() * 10, c = next() * 0.1;
    rows.add(std::array{a, b, c});
  }
  return rows;
}

std::vector<double> golden_events() {
  std::vector<double> events;
  for (const char c : std::string_view("000100000000100100001000001100110100000101001000101100001000"))
    events.push_back(c - '0');
  return events;
}

TEST(Logistic, EqualsScikitLearn) {
  const LogisticModel model = fit_logistic(golden_cases(), golden_events());
  const std::array expected = {4.4457269646665765, -0.5726758789112616, 31.554256701562412};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(model.weights[i] / expected[i], 1, 1e-5) << i;
  EXPECT_NEAR(model.bias, -2.726075785410675, 1e-5);
}

TEST(Logistic, ProbabilitiesHaveTheEventsMean) {
  const FeatureRows cases = golden_cases();
  const std::vector<double> events = golden_events();
  const LogisticModel model = fit_logistic(cases, events);
  double probability = 0;
  for (size_t i = 0; i < cases.size(); ++i) probability += model.probability(cases[i]);
  EXPECT_NEAR(probability, std::accumulate(events.begin(), events.end(), 0.0), 1e-4);
}

TEST(Logistic, AConstantFeatureTellsNothing) {
  FeatureRows rows(2);
  std::vector<double> events;
  for (int i = 0; i < 20; ++i) {
    rows.add(std::array{static_cast<double>(i), 7.0});
    events.push_back(i < 8 ? 1 : 0);
  }
  const LogisticModel model = fit_logistic(rows, events);
  EXPECT_EQ(model.weights[1], 0);
  EXPECT_GT(model.probability(std::array{0.0, 7.0}), 0.9);
}

// The prior keeps it finite.
TEST(Logistic, EventsThatAreAllEqual) {
  const FeatureRows cases = golden_cases();
  const LogisticModel model = fit_logistic(cases, std::vector<double>(60, 1));
  for (const double weight : model.weights) EXPECT_TRUE(std::isfinite(weight));
  EXPECT_GT(model.probability(cases[0]), 0.99);
}

TEST(Reliability, IsTheMeanDifferenceByTenths) {
  // 0.2 twice, of which one is right; 0.95 and 1, both right.
  const Reliability r = reliability(std::array{0.21, 0.25, 0.95, 1.0}, std::array{1.0, 0.0, 1.0, 1.0});
  EXPECT_EQ(r.bins[2].cases, 2);
  EXPECT_NEAR(r.bins[2].confidence, 0.23, 1e-12);
  EXPECT_EQ(r.bins[9].cases, 2);
  EXPECT_NEAR(r.error, 0.5 * (0.5 - 0.23) + 0.5 * (1 - 0.975), 1e-12);
  EXPECT_EQ(reliability({}, {}).error, 0);
}

TEST(Reliability, RankCorrelationEqualsSciPys) {
  EXPECT_NEAR(
      rank_correlation(std::array{1.0, 2.0, 2.0, 5.0, 3.0, 0.0}, std::array{3.0, 1.0, 4.0, 4.0, 9.0, 2.0}),
      0.6323529411764706, 1e-12);
  EXPECT_EQ(rank_correlation(std::array{1.0, 1.0}, std::array{1.0, 2.0}), 0);
}

}  // namespace
}  // namespace dragoman::internal
