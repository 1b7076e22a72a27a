// The learning rate against the Annotated Transformer's figure of three schedules, and against the paper's formula.
#include "train/schedule.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

// The formula as the Annotated Transformer has it in its code.
double annotated(double step, double d_model, double factor, double warmup) {
  return factor * (std::pow(d_model, -0.5) * std::min(std::pow(step, -0.5), step * std::pow(warmup, -1.5)));
}

struct Curve {
  int64_t d_model;
  double factor;
  int64_t warmup;
  double peak;  // at the end of the warm-up, as the figure shows it
};

class Noam : public testing::TestWithParam<Curve> {};

TEST_P(Noam, IsTheFigure) {
  const auto [d_model, factor, warmup, peak] = GetParam();
  for (int64_t step = 1; step < 20'000; ++step) {
    const double wanted = annotated(static_cast<double>(step), static_cast<double>(d_model), factor,
                                    static_cast<double>(warmup));
    ASSERT_NEAR(noam_rate(step, d_model, factor, warmup), wanted, 1e-12 * wanted) << "step " << step;
  }
}

TEST_P(Noam, RisesLinearlyFallsByTheRootAndPeaksBetween) {
  const auto [d_model, factor, warmup, peak] = GetParam();
  const auto rate = [d = d_model, f = factor, w = warmup](int64_t step) { return noam_rate(step, d, f, w); };
  EXPECT_NEAR(rate(warmup), peak, 5e-7);
  EXPECT_NEAR(rate(1), peak / static_cast<double>(warmup), 1e-9);
  EXPECT_NEAR(rate(warmup / 2), rate(warmup) / 2, 1e-12);
  EXPECT_NEAR(rate(4 * warmup), rate(warmup) / 2, 1e-12);
  EXPECT_LT(rate(warmup - 1), rate(warmup));
  EXPECT_LT(rate(warmup + 1), rate(warmup));
}

INSTANTIATE_TEST_SUITE_P(Articles, Noam,
                         testing::Values(Curve{512, 1, 4000, 0.000699}, Curve{512, 1, 8000, 0.000494},
                                         Curve{256, 1, 4000, 0.000988},    // the three of the figure
                                         Curve{512, 2, 4000, 0.001398},    // its standard optimiser
                                         Curve{512, 1, 400, 0.002210},     // its copy task
                                         Curve{512, 2, 16000, 0.000699},   // tensor2tensor re-implemented
                                         Curve{1024, 1, 4000, 0.000494}),  // the paper's big model
                         [](const auto& test) {
                           return std::to_string(test.param.d_model) + "_" +
                                  std::to_string(static_cast<int>(test.param.factor)) + "_" +
                                  std::to_string(test.param.warmup);
                         });

TEST(NoamRate, WithoutWarmupItOnlyFalls) {
  EXPECT_DOUBLE_EQ(noam_rate(1, 100, 1, 1), 0.1);
  EXPECT_DOUBLE_EQ(noam_rate(4, 100, 1, 1), 0.05);
}

TEST(NoamRate, LargeStepsStayFinite) {
  const double rate = noam_rate(1'000'000'000'000, 512, 2, 4000);
  EXPECT_NEAR(rate, 2 / std::sqrt(512.0) * 1e-6, 1e-15);
}

// The other schedules, with a warm-up of 100 up to 0.02.
double rate_of(Schedule schedule, int64_t step) {
  return learning_rate({schedule, 1, 0.02, 100, 900, 512}, step);
}

TEST(OtherSchedules, RiseLinearlyExceptTheConstantOne) {
  for (const int64_t step : {1, 50, 100}) {
    const double line = 0.0002 * static_cast<double>(step);
    EXPECT_DOUBLE_EQ(rate_of(Schedule::inverse_sqrt, step), line);
    EXPECT_DOUBLE_EQ(rate_of(Schedule::cosine, step), line);
    EXPECT_EQ(rate_of(Schedule::constant, step), 0.02);
  }
}

TEST(OtherSchedules, FallAsTheirNamesSay) {
  EXPECT_DOUBLE_EQ(rate_of(Schedule::inverse_sqrt, 400), 0.01);
  EXPECT_DOUBLE_EQ(rate_of(Schedule::inverse_sqrt, 10'000), 0.002);
  EXPECT_DOUBLE_EQ(rate_of(Schedule::cosine, 300), 0.01 * (1 + std::sqrt(0.5)));
  EXPECT_DOUBLE_EQ(rate_of(Schedule::cosine, 500), 0.01);
  EXPECT_NEAR(rate_of(Schedule::cosine, 900), 0, 1e-18);
  EXPECT_NEAR(rate_of(Schedule::cosine, 2000), 0, 1e-18);
  EXPECT_EQ(rate_of(Schedule::constant, 1'000'000), 0.02);
}

TEST(Cooldown, IsALineToZeroOverTheLastPart) {
  EXPECT_EQ(1, cooldown(0, 0.99));
  EXPECT_EQ(1, cooldown(0.2, 0));
  EXPECT_NEAR(1, cooldown(0.2, 0.8), 1e-12);
  EXPECT_NEAR(0.5, cooldown(0.2, 0.9), 1e-12);
  EXPECT_EQ(0, cooldown(0.2, 1));
  EXPECT_DOUBLE_EQ(0.25, cooldown(1, 0.75));
}

TEST(AveragingRate, ForgetsTheInitialWeightsAndThenIsConstant) {
  EXPECT_NEAR(averaging_rate(0.999, 1), 9.0 / 11, 1e-12);
  EXPECT_NEAR(averaging_rate(0.999, 890), 0.01, 1e-12);
  EXPECT_NEAR(averaging_rate(0.999, 100'000), 0.001, 1e-12);
  double beginning = 1;  // the share of the first weights
  for (int64_t step = 1; step <= 100; ++step) beginning *= 1 - averaging_rate(0.999, step);
  EXPECT_LT(beginning, 1e-6);
}

}  // namespace
}  // namespace dragoman::internal
