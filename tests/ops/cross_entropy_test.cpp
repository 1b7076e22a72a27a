// Cross-entropy against its formulas in double precision: both losses and every gradient, for both ways to smooth,
// however many logits exist at once.
#include <iterator>

#include "ops/reference.h"

namespace dragoman::internal {
namespace {

class CrossEntropy : public Reference {
 protected:
  struct Result {
    Doubles losses, dhidden, dweight, dbias;
  };

  static double smoothed(Smoothing smoothing, int64_t vocabulary, bool right) {
    const double amount = double{smoothing.amount}, v = static_cast<double>(vocabulary);
    if (smoothing.over == SmoothingOver::all) return (right ? 1 - amount : 0) + amount / v;
    return right ? 1 - amount : amount / (v - 1);
  }

  static Result expected(const Doubles& hidden, const Doubles& weight, const Doubles& bias,
                         const std::vector<int32_t>& targets, Smoothing smoothing) {
    const int64_t words = weight.rows;
    Result result = {Doubles(hidden.rows, 2), Doubles(hidden.rows, hidden.columns),
                     Doubles(words, weight.columns), Doubles(1, words)};
    for (int64_t r = 0; r < hidden.rows; ++r) {
      std::vector<double> logits(static_cast<size_t>(words));
      double sum = 0;
      for (int64_t w = 0; w < words; ++w) {
        double& logit = logits[static_cast<size_t>(w)];
        logit = bias(0, w);
        for (int64_t c = 0; c < hidden.columns; ++c) logit += hidden(r, c) * weight(w, c);
        sum += std::exp(logit);
      }
      for (int64_t w = 0; w < words; ++w) {
        const double log_p = logits[static_cast<size_t>(w)] - std::log(sum);
        const bool right = w == targets[static_cast<size_t>(r)];
        const double q = smoothed(smoothing, words, right), d = std::exp(log_p) - q;
        result.losses(r, 0) -= q * log_p;
        if (right) result.losses(r, 1) = -log_p;
        result.dbias(0, w) += d;
        for (int64_t c = 0; c < hidden.columns; ++c) {
          result.dhidden(r, c) += d * weight(w, c);
          result.dweight(w, c) += d * hidden(r, c);
        }
      }
    }
    return result;
  }

  void check(int64_t rows, int64_t width, int64_t words, Smoothing smoothing, int64_t logits_per_chunk) {
    const Tensor hidden = random(rows, width), weight = parameter(words, width),
                 bias = parameter(1, words, 2);
    std::vector<int32_t> targets;
    for (int64_t r = 0; r < rows; ++r) targets.push_back(static_cast<int32_t>(r * 7 % words));
    targets[0] = static_cast<int32_t>(words - 1);
    const Array<int32_t> target_array(device_.pool, std::span<const int32_t>(targets));
    Pass pass = training();
    const Tensor losses =
        cross_entropy(pass, hidden, weight, bias, target_array, smoothing, logits_per_chunk);
    tape_.backward();
    const Result wanted = expected(doubles(hidden), doubles(weight), doubles(bias), targets, smoothing);
    expect_near(losses, wanted.losses, 1e-6, "losses");
    expect_near(hidden.gradient(), wanted.dhidden, 2e-6, "gradient of what is hidden");
    expect_near(weight.gradient(), wanted.dweight, 2e-6, "gradient of the weight");
    expect_near(bias.gradient(), wanted.dbias, 2e-6, "gradient of the bias");

    Pass evaluation{device_};
    const Tensor again =
        cross_entropy(evaluation, hidden, weight, bias, target_array, smoothing, logits_per_chunk);
    EXPECT_TRUE(same_bits(floats(again), floats(losses))) << "evaluation and training differ";
  }
};

TEST_P(CrossEntropy, SmoothedOverAll) { check(13, 9, 37, {0.1F, SmoothingOver::all}, 1 << 20); }

TEST_P(CrossEntropy, SmoothedOverOthers) { check(13, 9, 21, {0.3F, SmoothingOver::others}, 1 << 20); }

TEST_P(CrossEntropy, NotSmoothed) { check(3, 5, 2, {0, SmoothingOver::all}, 1 << 20); }

TEST_P(CrossEntropy, InChunks) { check(193, 5, 19, {0.1F, SmoothingOver::all}, 64 * 19); }

// Computing a chunk at a time gives the same bits as all at once. On a GPU only of rows: the weight's gradient is a sum
// over them, which may be split, so that it is near.
TEST_P(CrossEntropy, ChunksChangeNoBit) {
  const Tensor values = random(150, 8), weight = parameter(23, 8), bias;
  const Array<int32_t> targets(device_.pool, std::span<const int32_t>(std::vector<int32_t>(150, 3)));
  std::vector<Floats> of_weight, of_hidden;
  for (const int64_t logits_per_chunk : {64 * 23, 128 * 23, 1 << 20}) {
    fill(weight.gradient(), 0);
    const Tensor hidden(device_.pool, values.rows(), values.columns());
    set(hidden.matrix(), floats(values));
    Pass pass = training();
    cross_entropy(pass, hidden, weight, bias, targets, {0.1F, SmoothingOver::all}, logits_per_chunk);
    tape_.backward();
    of_weight.push_back(floats(weight.gradient()));
    of_hidden.push_back(floats(hidden.gradient()));
  }
  for (const size_t other : {1, 2}) {
    EXPECT_TRUE(same_bits(of_hidden[0], of_hidden[other]));
    if (is_gpu_table(GetParam())) {
      for (size_t i = 0; i < of_weight[0].size(); ++i)
        EXPECT_NEAR(of_weight[0][i], of_weight[other][i], 1e-5F);
    } else {
      EXPECT_TRUE(same_bits(of_weight[0], of_weight[other]));
    }
  }
}

TEST_P(CrossEntropy, LossesOfTheSameRowsAddTheirGradients) {
  const Tensor hidden = random(70, 8), weight = parameter(23, 8), bias;
  const std::vector<int32_t> words[] = {std::vector<int32_t>(70, 3), std::vector<int32_t>(70, 22)};
  const Smoothing smoothing = {0.1F, SmoothingOver::all};
  Pass pass = training();
  for (const auto& targets : words)
    cross_entropy(pass, hidden, weight, bias, Array<int32_t>(device_.pool, std::span(targets)), smoothing,
                  64 * 23);
  tape_.backward();
  const auto one = [&](const std::vector<int32_t>& targets) {
    return expected(doubles(hidden), doubles(weight), Doubles(1, 23), targets, smoothing);
  };
  Doubles sum = one(words[0]).dhidden;
  const Doubles other = one(words[1]).dhidden;
  for (int64_t r = 0; r < sum.rows; ++r)
    for (int64_t c = 0; c < sum.columns; ++c) sum(r, c) += other(r, c);
  expect_near(hidden.gradient(), sum, 4e-6, "gradient of what is hidden");
}

TEST_P(CrossEntropy, LogitsFarApartStayFinite) {
  const Tensor hidden = random(1, 1), weight = parameter(3, 1), bias;
  set(hidden.matrix(), {1});
  const Floats far = {-5000, 0, 5000};
  set(weight.matrix(), far);
  for (size_t target = 0; target < 3; ++target) {
    const Array<int32_t> targets(device_.pool, std::vector{static_cast<int32_t>(target)});
    Pass pass{device_};
    const Tensor losses = cross_entropy(pass, hidden, weight, bias, targets, {0, SmoothingOver::all});
    EXPECT_EQ(floats(losses)[1], 5000.0F - far[target]);
  }
}

TEST_P(CrossEntropy, OfNoRows) {
  const Tensor hidden(device_.pool, 0, 4), weight = parameter(3, 4), bias;
  Pass pass{device_};
  EXPECT_EQ(
      cross_entropy(pass, hidden, weight, bias, Array<int32_t>(device_.pool, 0), {0, SmoothingOver::all})
          .rows(),
      0);
}

INSTANTIATE_TEST_SUITE_P(On, CrossEntropy, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
