#include "train/divergence.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dragoman {
namespace {

using Verdict = DivergenceGuard::Verdict;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

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

TEST(DivergenceGuard, SkipsWhatIsNoNumberOrFarOutside) {
  for (const auto& [loss, norm] :
       {std::pair{nan, 1.0}, {infinity, 1.0}, {5.0, nan}, {5.0, infinity}, {40.0, 1.0}}) {
    DivergenceGuard guard = experienced();
    EXPECT_EQ(guard.judge(loss, norm), Verdict::skip) << loss << " " << norm;
    EXPECT_NE(guard.reason(), "");
    EXPECT_EQ(guard.judge(5, 1), Verdict::good);
    EXPECT_EQ(guard.skipped(), 1);
  }
}

TEST(DivergenceGuard, WithoutAHistoryNoLossIsFarOutside) {
  DivergenceGuard guard;
  EXPECT_EQ(guard.judge(1, 1), Verdict::good);
  EXPECT_EQ(guard.judge(1000, 1), Verdict::good);
}

TEST(DivergenceGuard, GoesBackAfterSeveralInARowAndGivesUpAfterSeveralReturns) {
  DivergenceGuard guard = experienced();
  for (int returns = 1; returns <= 3; ++returns) {
    EXPECT_EQ(guard.judge(nan, 1), Verdict::skip);
    EXPECT_EQ(guard.judge(nan, 1), Verdict::skip);
    EXPECT_EQ(guard.judge(nan, 1), Verdict::go_back);
    EXPECT_EQ(guard.rate_scale(), std::pow(0.5, returns));
  }
  guard.judge(nan, 1);
  guard.judge(nan, 1);
  EXPECT_EQ(guard.judge(nan, 1), Verdict::give_up);
}

TEST(DivergenceGuard, ComesBackFromJsonToTheSameJudgements) {
  DivergenceGuard guard = experienced(), copy;
  guard.judge(nan, 1);
  copy.from_json(nlohmann::json::parse(guard.to_json().dump()));
  for (const double loss : {5.1, 8.0, nan, nan, nan, 5.2})
    EXPECT_EQ(copy.judge(loss, 1), guard.judge(loss, 1)) << loss;
  EXPECT_EQ(copy.to_json(), guard.to_json());
}

TEST(DivergenceGuard, GoingBackKeepsPatienceButNotMemory) {
  const DivergenceGuard before = experienced();
  DivergenceGuard after = before;
  for (int i = 0; i < 3; ++i) after.judge(nan, 1);
  DivergenceGuard restored = before;
  restored.keep_patience_of(after);
  EXPECT_EQ(restored.rate_scale(), 0.5);
  EXPECT_EQ(restored.skipped(), 3);
}

}  // namespace
}  // namespace dragoman
