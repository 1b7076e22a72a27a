// An update is the same however it is cut into micro-batches, and has the same bits on any number of threads; a
// run is a function of its seed.
#include <cmath>

#include "train/batches.h"

namespace dragoman {
namespace {

using Floats = std::vector<float>;

class Updates : public testing::TestWithParam<ModelCase> {
 protected:
  const ModelConfig& config() const { return GetParam().named.config; }

  // A model, and what trains it.
  struct Run {
    Run(const ModelCase& c, int threads, uint64_t seed = 1, double clip_norm = 0)
        : small(c.named.config, *c.kernels, threads, /*gradients=*/true),
          trainer(small.model, {.clip_norm = clip_norm, .seed = seed}) {}

    Floats gradients() const { return floats(small.model.parameters.gradients()); }
    Floats weights() const { return floats(small.model.parameters.weights()); }
    static Floats floats(std::span<const float> values) { return {values.begin(), values.end()}; }

    SmallModel small;
    Trainer trainer;
  };

  // Ten pairs in so many batches.
  std::vector<Batch> cut(size_t parts) const {
    std::vector<Batch> batches;
    for (size_t i = 0; i < parts; ++i) batches.push_back(random_batch(config(), i * 10 / parts, 10 / parts));
    return batches;
  }
};

double length(const Floats& v) {
  double squares = 0;
  for (const float x : v) squares += double{x} * double{x};
  return std::sqrt(squares);
}

TEST_P(Updates, AreTheSameHoweverTheyAreCut) {
  Run whole(GetParam(), 2);
  const LossSums sums = whole.trainer.update(cut(1), 0);
  for (const size_t parts : {size_t{2}, size_t{5}}) {
    Run run(GetParam(), 2);
    const LossSums part_sums = run.trainer.update(cut(parts), 0);
    EXPECT_EQ(part_sums.target_tokens, sums.target_tokens);
    EXPECT_EQ(part_sums.source_tokens, sums.source_tokens);
    EXPECT_NEAR(part_sums.smoothed, sums.smoothed, 1e-9 * sums.smoothed) << "the masks of dropout differ";
    EXPECT_NEAR(part_sums.log_likelihood, sums.log_likelihood, 1e-9 * sums.log_likelihood);
    Floats difference = run.gradients();
    const Floats wanted = whole.gradients();
    for (size_t i = 0; i < wanted.size(); ++i) difference[i] -= wanted[i];
    EXPECT_LT(length(difference), 1e-6 * length(wanted)) << parts << " parts";
  }
}

// Three updates: gradients, weights and losses.
TEST_P(Updates, HaveTheSameBitsOnAnyNumberOfThreads) {
  Floats gradients, weights;
  double smoothed = 0;
  for (const int threads : {1, 2, 3}) {
    Run run(GetParam(), threads, 1, /*clip_norm=*/0.5);
    LossSums sums;
    for (int i = 0; i < 3; ++i) sums += run.trainer.update(cut(2), 0.01);
    if (threads == 1) {
      gradients = run.gradients();
      weights = run.weights();
      smoothed = sums.smoothed;
    }
    EXPECT_EQ(sums.smoothed, smoothed) << threads;
    EXPECT_TRUE(same_bits(run.gradients(), gradients)) << "threads: " << threads;
    EXPECT_TRUE(same_bits(run.weights(), weights)) << "threads: " << threads;
  }
}

TEST_P(Updates, AreAFunctionOfTheSeed) {
  std::vector<std::vector<double>> losses;
  for (const uint64_t seed : {1, 1, 2}) {
    Run run(GetParam(), 2, seed);
    losses.emplace_back();
    for (uint64_t i = 0; i < 3; ++i) {
      losses.back().push_back(
          run.trainer.update(std::vector{random_batch(config(), 10 * i, 10)}, 0.01).smoothed);
    }
  }
  EXPECT_EQ(losses[0], losses[1]);
  for (size_t i = 0; i < 3; ++i) EXPECT_NE(losses[0][i], losses[2][i]) << "update " << i;
}

// The masks of each update are new ones, and evaluation has none.
TEST_P(Updates, DropAnewEachTime) {
  Run run(GetParam(), 1);
  const Batch batch = random_batch(config(), 0, 10);
  const double first = run.trainer.update(std::vector{batch}, 0).smoothed;
  const double second = run.trainer.update(std::vector{batch}, 0).smoothed;
  EXPECT_NE(first, second);
  const double evaluated = run.trainer.evaluate(batch).smoothed;
  EXPECT_EQ(run.trainer.evaluate(batch).smoothed, evaluated);
  EXPECT_NE(evaluated, first);
  EXPECT_EQ(run.trainer.steps(), 2);
}

// Evaluating between two updates changes neither.
TEST_P(Updates, AreLeftAloneByEvaluation) {
  const Batch batch = random_batch(config(), 0, 10), other = random_batch(config(), 50, 4);
  Run plain(GetParam(), 2), evaluated(GetParam(), 2);
  for (int i = 0; i < 2; ++i) {
    plain.trainer.update(std::vector{batch}, 0.01);
    evaluated.trainer.evaluate(other);
    evaluated.trainer.update(std::vector{batch}, 0.01);
  }
  EXPECT_TRUE(same_bits(plain.weights(), evaluated.weights()));
}

// A clipped gradient is what Adam would have got had it been scaled to that norm; the first moment shows it, since
// the first update's size does not depend on the scale.
TEST_P(Updates, ClippingByNormKeepsTheDirection) {
  Run free(GetParam(), 1), clipped(GetParam(), 1, 1, 1e-3), loose(GetParam(), 1, 1, 1e6);
  const std::vector batches = {random_batch(config(), 0, 10)}, later = {random_batch(config(), 10, 10)};
  for (Run* run : {&free, &clipped, &loose}) {
    run->trainer.update(batches, 0.01);
    run->trainer.update(later, 0.01);
  }
  EXPECT_TRUE(same_bits(free.weights(), loose.weights())) << "a bound that is not reached changed something";
  EXPECT_FALSE(same_bits(free.weights(), clipped.weights()));
}

INSTANTIATE_TEST_SUITE_P(On, Updates, testing::ValuesIn(model_cases()), model_case_name);

}  // namespace
}  // namespace dragoman
