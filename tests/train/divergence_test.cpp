#include "train/divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/small_models.h"

namespace dragoman::internal {
namespace {

using Verdict = DivergenceGuard::Verdict;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

// A guard that has seen losses around 5 for a while.
DivergenceGuard experienced() {
  DivergenceGuard guard;
  for (int i = 0; i < 300; ++i) EXPECT_EQ(guard.judge(5 + 0.2 * std::sin(i), 1), Verdict::good);
  return guard;
}

TEST(DivergenceGuard, LetsOrdinaryLossesPass) {
  DivergenceGuard guard = experienced();
  EXPECT_EQ(guard.judge(5.6, 1), Verdict::good);
  EXPECT_EQ(guard.judge(0.1, 1), Verdict::good);  // better is never a divergence
  EXPECT_EQ(guard.skipped(), 0);
  EXPECT_EQ(guard.rate_scale(), 1);
}

TEST(DivergenceGuard, SkipsNonFiniteNumbersAndOutliers) {
  for (const auto& [loss, norm] :
       {std::pair{nan, 1.0}, {infinite, 1.0}, {5.0, nan}, {5.0, infinite}, {40.0, 1.0}}) {
    DivergenceGuard guard = experienced();
    EXPECT_EQ(guard.judge(loss, norm), Verdict::skip) << loss << " " << norm;
    EXPECT_NE(guard.reason(), "");
    EXPECT_EQ(guard.judge(5, 1), Verdict::good);
    EXPECT_EQ(guard.skipped(), 1);
  }
}

// A learning rate that is far too large spoils the second update already: what follows must not enter the statistics.
TEST(DivergenceGuard, WithoutAHistoryOnlyALossFarAboveTheFirstIsAnOutlier) {
  DivergenceGuard guard, copy;
  EXPECT_EQ(guard.judge(1000, 1), Verdict::good);  // however high it is
  EXPECT_EQ(guard.judge(9, 1), Verdict::good);
  EXPECT_EQ(guard.judge(1050, 1), Verdict::good);
  copy.from_json(nlohmann::json::parse(guard.to_json().dump()));
  for (DivergenceGuard* one : {&guard, &copy}) {
    EXPECT_EQ(one->judge(2e17, 1), Verdict::skip);
    EXPECT_NE(one->reason().find("the loss is 2e+17 per token"), std::string::npos) << one->reason();
    EXPECT_EQ(one->judge(1200, 1), Verdict::skip);
  }
}

class Blame : public testing::Test {
 protected:
  Blame() : small_(small_configs()[0].config, *every_instruction_set().front(), 1, true) {
    std::ranges::fill(small_.model.parameters.gradients(), 1.0f);
  }

  const Parameter& parameter(size_t i) { return small_.model.parameters.list().at(i); }

  // The reason that the guard gives for an update must end so.
  void expect(double loss, double norm, const Parameter& blamed, const std::string& of) {
    DivergenceGuard guard;
    guard.judge(loss, norm);
    guard.blame(small_.model.parameters);
    const std::string ending = fmt::format("; {} has a {}", blamed.name, of);
    EXPECT_TRUE(guard.reason().ends_with(ending)) << guard.reason() << ", not " << ending;
    EXPECT_EQ(guard.reason().find("-nan"), std::string::npos) << guard.reason();
  }

  SmallModel small_;
};

TEST_F(Blame, IsTheLargestGradients) {
  parameter(3).value.gradient().data[1] = -2e19f;  // whose square overflows
  parameter(4).value.gradient().data[0] = 1e19f;
  expect(5, infinite, parameter(3), "gradient of -2e+19");
}

// Backward reaches the last ones first, and spreads non-finite numbers to all before them.
TEST_F(Blame, IsTheLastOfThoseThatAreNotFinite) {
  for (const size_t i : {0, 1, 3}) parameter(i).value.gradient().data[0] = -static_cast<float>(nan);
  parameter(4).value.gradient().data[0] = -static_cast<float>(infinite);
  parameter(5).value.gradient().data[0] = 1e30f;
  expect(5, nan, parameter(4), "gradient of -inf");
}

TEST_F(Blame, IsTheLargestWeightsIfTheLossIsNotFinite) {
  std::ranges::fill(small_.model.parameters.gradients(), static_cast<float>(nan));
  parameter(6).value.data()[0] = -1e30f;
  expect(-nan, nan, parameter(6), "weight of -1e+30");
  parameter(2).value.data()[0] = -static_cast<float>(nan);
  expect(infinite, nan, parameter(2), "weight of nan");
}

TEST(DivergenceGuard, RollsBackAfterSeveralInARowAndStopsAfterSeveralRollbacks) {
  DivergenceGuard guard = experienced();
  for (int rollbacks = 1; rollbacks <= 3; ++rollbacks) {
    EXPECT_EQ(guard.judge(nan, 1), Verdict::skip);
    EXPECT_EQ(guard.judge(nan, 1), Verdict::skip);
    EXPECT_EQ(guard.judge(nan, 1), Verdict::rollback);
    EXPECT_EQ(guard.rate_scale(), std::pow(0.5, rollbacks));
  }
  guard.judge(nan, 1);
  guard.judge(nan, 1);
  EXPECT_EQ(guard.judge(nan, 1), Verdict::stop);
}

TEST(DivergenceGuard, AGoodUpdateEndsARowOfSkips) {
  DivergenceGuard guard = experienced();
  for (const double loss : {nan, 5.0, nan, nan})
    EXPECT_EQ(guard.judge(loss, 1), std::isnan(loss) ? Verdict::skip : Verdict::good);
  EXPECT_EQ(guard.rate_scale(), 1);
}

TEST(DivergenceGuard, ComesBackFromJsonToTheSameJudgements) {
  DivergenceGuard guard = experienced(), copy;
  guard.judge(nan, 1);
  copy.from_json(nlohmann::json::parse(guard.to_json().dump()));
  for (const double loss : {5.1, 8.0, nan, nan, nan, 5.2})
    EXPECT_EQ(copy.judge(loss, 1), guard.judge(loss, 1)) << loss;
  EXPECT_EQ(copy.to_json(), guard.to_json());
}

TEST(DivergenceGuard, ARollbackKeepsTheCountersButNotTheStatistics) {
  const DivergenceGuard before = experienced();
  DivergenceGuard after = before;
  for (int i = 0; i < 3; ++i) after.judge(nan, 1);
  DivergenceGuard restored = before;
  restored.keep_counters_of(after);
  EXPECT_EQ(restored.rate_scale(), 0.5);
  EXPECT_EQ(restored.skipped(), 3);
}

}  // namespace
}  // namespace dragoman::internal
