// An update is the same however it is cut into micro-batches and parts of them, and has the same bits on any number of
// threads; a run is a function of its seed.
#include <cmath>

#include "train/batches.h"

namespace dragoman::internal {
namespace {

using Floats = std::vector<float>;

class Updates : public testing::TestWithParam<ModelCase> {
 protected:
  const ModelConfig& config() const { return GetParam().named.config; }

  // A model, and what trains it.
  struct Run {
    Run(const ModelCase& c, int threads, const UpdateOptions& options = {})
        : small(c.named.config, *c.kernels, threads, /*gradients=*/true),
          trainer(small.model, with(c.precision, options)) {}

    Floats gradients() const { return floats(small.model.parameters.gradients()); }
    Floats weights() const { return floats(small.model.parameters.weights()); }
    static UpdateOptions with(Precision precision, UpdateOptions options) {
      options.precision = precision;
      return options;
    }
    Floats floats(std::span<const float> values) const { return downloaded(small.device.memory, values); }

    SmallModel small;
    Trainer trainer;
  };

  // Ten pairs in `parts` batches.
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
  struct Cut {
    size_t batches;
    int64_t part_tokens;
  };
  for (const auto [batches, part_tokens] : {Cut{2, 0}, Cut{5, 0}, Cut{1, 20}, Cut{2, 5}}) {
    Run run(GetParam(), 2, {.part_tokens = part_tokens});
    const LossSums part_sums = run.trainer.update(cut(batches), 0);
    EXPECT_EQ(part_sums.target_tokens, sums.target_tokens);
    EXPECT_EQ(part_sums.source_tokens, sums.source_tokens);
    EXPECT_NEAR(part_sums.smoothed, sums.smoothed, 1e-9 * sums.smoothed) << "the masks of dropout differ";
    EXPECT_NEAR(part_sums.unsmoothed, sums.unsmoothed, 1e-9 * sums.unsmoothed);
    Floats difference = run.gradients();
    const Floats wanted = whole.gradients();
    for (size_t i = 0; i < wanted.size(); ++i) difference[i] -= wanted[i];
    EXPECT_LT(length(difference), 1e-6 * length(wanted)) << batches << " batches, parts of " << part_tokens;
  }
}

// Gradients, weights and losses of three updates in parts, some of more rows than one partial sum has.
TEST_P(Updates, HaveTheSameBitsOnAnyNumberOfThreads) {
  Floats gradients, weights;
  double smoothed = 0;
  const bool on_gpu = is_gpu_table(GetParam().kernels);
  const size_t pairs = on_gpu ? 8 : 40;
  for (const int threads : {1, 2, 3}) {
    if (on_gpu && threads == 3) break;
    Run run(GetParam(), threads, {.clip_norm = 0.5, .part_tokens = on_gpu ? 40 : 150});
    LossSums sums;
    for (uint64_t i = 0; i < 3; ++i) {
      sums += run.trainer.update(
          std::vector{random_batch(config(), 0, pairs), random_batch(config(), pairs, 3)}, 0.01);
    }
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
    Run run(GetParam(), 2, {.seed = seed});
    losses.emplace_back();
    for (uint64_t i = 0; i < 3; ++i) {
      losses.back().push_back(
          run.trainer.update(std::vector{random_batch(config(), 10 * i, 10)}, 0.01).smoothed);
    }
  }
  EXPECT_EQ(losses[0], losses[1]);
  for (size_t i = 0; i < 3; ++i) EXPECT_NE(losses[0][i], losses[2][i]) << "update " << i;
}

// Each update has new masks, and evaluation has none.
TEST_P(Updates, HaveNewDropoutMasks) {
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

// Rounding affects the gradients, but not the evaluation.
TEST_P(Updates, AreEvaluatedInFp32InAnyPrecision) {
  ModelCase in_fp32 = GetParam(), in_bf16 = GetParam();
  in_fp32.precision = Precision::fp32;
  in_bf16.precision = Precision::bf16;
  Run exact(in_fp32, 2), rounded(in_bf16, 2);
  const Batch batch = random_batch(config(), 0, 10);
  EXPECT_EQ(rounded.trainer.evaluate(batch).smoothed, exact.trainer.evaluate(batch).smoothed);
  const double loss = exact.trainer.add_gradients(batch).smoothed;
  EXPECT_NEAR(rounded.trainer.add_gradients(batch).smoothed, loss, 0.01 * loss);
  Floats difference = rounded.gradients();
  const Floats wanted = exact.gradients();
  for (size_t i = 0; i < wanted.size(); ++i) difference[i] -= wanted[i];
  EXPECT_GT(length(difference), 1e-4 * length(wanted));
  EXPECT_LT(length(difference), 0.05 * length(wanted));
}

// Adam's first moment after the first update is (1 − beta1) times the gradient that it was given.
TEST_P(Updates, ClipTheGradientOfTheLossPerToken) {
  const std::vector batches = {random_batch(config(), 0, 10)};
  double free_length = 0;
  for (const double bound : {0.0, 1e-3, 1e6}) {
    Run run(GetParam(), 1, {.clip_norm = bound});
    const LossSums sums = run.trainer.update(batches, 0.01);
    const double given = length(run.floats(run.trainer.adam().first_moments())) / 0.1;
    if (bound == 0) {
      free_length = given;
      EXPECT_NEAR(given, length(run.gradients()) / static_cast<double>(sums.target_tokens), 1e-4 * given);
    }
    EXPECT_NEAR(given, bound == 1e-3 ? bound : free_length, 1e-4 * given) << "clip_norm " << bound;
  }
}

// The gradients of one update do not leak into the next.
TEST_P(Updates, LeaveConstantsAsTheyAre) {
  Run run(GetParam(), 2, {.adam = {.weight_decay = 0.1}});
  const Floats before = run.weights();
  run.trainer.update(cut(2), 0.01);
  const Floats after = run.weights();
  for (const Parameter& parameter : run.small.model.parameters.list()) {
    const std::span<const float> old = std::span(before).subspan(static_cast<size_t>(parameter.offset)),
                                 now = std::span(after).subspan(static_cast<size_t>(parameter.offset));
    const auto size = static_cast<size_t>(parameter.size());
    EXPECT_EQ(same_bits(old.first(size), now.first(size)), parameter.constant) << parameter.name;
  }
}

TEST_P(Updates, StartWithoutGradients) {
  ModelCase undropped = GetParam();
  ModelConfig& c = undropped.named.config;
  c.dropout = c.attention_dropout = c.activation_dropout = c.embedding_dropout = 0;
  Run run(undropped, 1);
  const std::vector batches = {random_batch(config(), 0, 10)};
  run.trainer.update(batches, 0);
  const Floats first = run.gradients();
  run.trainer.update(batches, 0);
  EXPECT_TRUE(same_bits(run.gradients(), first));
}

INSTANTIATE_TEST_SUITE_P(On, Updates, testing::ValuesIn(training_cases()), model_case_name);

}  // namespace
}  // namespace dragoman::internal
