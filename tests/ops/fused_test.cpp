// Ops that do several things in one pass, against those things one after the other.
#include <functional>

#include "base/error.h"
#include "kernels/reference_activation.h"
#include "ops/reference.h"

namespace dragoman::internal {
namespace {

using Fused = Reference;

// --- dropout ----------------------------------------------------------------------------------------

// On ones, a branch of nothing else: what comes out is the mask itself, by its definition.
TEST_P(Fused, DropoutIsItsDefinition) {
  const Tokens rows = tokens({3, 1, 6});
  const int64_t width = 150;
  const Tensor residual(device_.pool, rows.count(), width), ones(device_.pool, rows.count(), width);
  fill(residual.matrix(), 0);
  fill(ones.matrix(), 1);
  const Tensor gain = parameter(1, width), bias = parameter(1, width);
  Pass pass = training();
  const Tensor sum = add_dropout_norm(pass, residual, ones, 0.3F, rows.rows, gain, bias, 1e-6F).sum;
  Pass other = training();
  const Tensor dropped = dropout(other, ones, 0.3F, rows.rows);
  const std::vector<RowKey> keys = rows.rows.download();
  const Doubles sums = doubles(sum);
  for (int64_t r = 0; r < rows.count(); ++r) {
    for (int64_t c = 0; c < width; ++c) {
      const RowKey key = keys[static_cast<size_t>(r)];
      ASSERT_FLOAT_EQ(static_cast<float>(sums(r, c)),
                      static_cast<float>(dropout_multiplier(0.3F, first_key(), key, 0, c)))
          << "row " << r << ", column " << c;
    }
  }
  EXPECT_TRUE(same_bits(floats(dropped), floats(sum)));
  tape_.clear();
}

// The number of a dropout counts at any rate, so that switching one off leaves the masks of the others.
TEST_P(Fused, EachDropoutHasItsOwnKey) {
  const Tokens rows = tokens({2});
  Pass pass = training();
  const Dropout first = pass.dropout(0, rows.rows), second = pass.dropout(0.5F, rows.rows);
  EXPECT_EQ(first.rate, 0);
  EXPECT_EQ(second.key[0] | uint64_t{second.key[1]} << 32, mix(mix(7, uint64_t{3}), uint64_t{1}));
  Pass inference{device_};
  EXPECT_EQ(inference.dropout(0.5F, rows.rows).rate, 0);
}

// --- add + dropout + norm ---------------------------------------------------------------------------

TEST_P(Fused, AddAndNormAreNormOfTheSum) {
  const Tokens rows = tokens({4, 1, 7});
  const int64_t width = 29;
  const Tensor residual = random(rows.count(), width), branch = random(rows.count(), width);
  const Tensor gain = parameter(1, width), bias = parameter(1, width);
  const Tensor plain_sum(device_.pool, rows.count(), width);
  Floats added = floats(residual);
  std::ranges::transform(added, floats(branch), added.begin(), std::plus());
  set(plain_sum.matrix(), added);
  Pass pass{device_};
  const auto [sum, normed] = add_dropout_norm(pass, residual, branch, 0, rows.rows, gain, bias, 1e-5F);
  const Tensor plain_normed = norm(pass, plain_sum, gain, bias, 1e-5F);
  EXPECT_TRUE(same_bits(floats(sum), floats(plain_sum)));
  EXPECT_TRUE(same_bits(floats(normed), floats(plain_normed)));
}

// (x − mean) / √(variance + ε) · gain + bias, with the variance over n and not n − 1.
TEST_P(Fused, NormIsItsFormula) {
  const int64_t width = 37;
  const Tensor x = random(5, width, 3), gain = parameter(1, width), bias = parameter(1, width);
  const Doubles at = doubles(x), gains = doubles(gain), biases = doubles(bias);
  Doubles wanted(5, width);
  for (int64_t r = 0; r < 5; ++r) {
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < width; ++c) mean += at(r, c) / width;
    for (int64_t c = 0; c < width; ++c) variance += std::pow(at(r, c) - mean, 2) / width;
    for (int64_t c = 0; c < width; ++c)
      wanted(r, c) = (at(r, c) - mean) / std::sqrt(variance + 0.5) * gains(0, c) + biases(0, c);
  }
  Pass pass{device_};
  expect_near(norm(pass, x, gain, bias, 0.5F), wanted, 1e-6, "norm");
}

// A mean that is large beside the deviation costs no more than its own rounding.
TEST_P(Fused, NormOfAlmostEqualNumbers) {
  const Tensor x(device_.pool, 1, 16), gain = parameter(1, 16), bias = parameter(1, 16);
  fill(gain.matrix(), 1);
  fill(bias.matrix(), 0);
  Floats values(16, 1000);
  for (size_t c = 1; c < 16; c += 2) values[c] += 0.25F;
  set(x.matrix(), values);
  Pass pass{device_};
  const Doubles normed = doubles(norm(pass, x, gain, bias, 1e-6F));
  for (int c = 0; c < 16; ++c) EXPECT_NEAR(normed(0, c), c % 2 == 0 ? -1 : 1, 1e-3);
}

// --- linear + activation + dropout ------------------------------------------------------------------

double slope(Activation activation, double x) {
  const double s = 1 / (1 + std::exp(-x));
  switch (activation) {
    case Activation::none:
      return 1;
    case Activation::relu:
      return x > 0 ? 1 : 0;
    case Activation::gelu:
      return 0.5 * std::erfc(-x / std::sqrt(2.0)) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
    case Activation::gelu_tanh: {
      const double tanh = std::tanh(gelu_tanh_argument(x));
      return (1 + tanh) / 2 + x / 2 * (1 - tanh * tanh) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
    }
    case Activation::gelu_sigmoid: {
      const double gate = 1 / (1 + std::exp(-1.702 * x));
      return gate * (1 + 1.702 * x * (1 - gate));
    }
    case Activation::swish:
      return s * (1 + x * (1 - s));
  }
  return 0;
}

// The linear layer alone, then the activation and the mask by loops; and back.
TEST_P(Fused, LinearThenActivationThenDropout) {
  const Tokens rows = tokens({5, 1, 70});
  const int64_t in = 7, out = 83;
  const Tensor x = random(rows.count(), in), weight = parameter(in, out), bias = parameter(1, out);
  Pass plain{device_};
  const Doubles inner = doubles(linear(plain, x, weight, bias));
  const std::vector<RowKey> keys = rows.rows.download();
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu,
                                      Activation::gelu_tanh, Activation::gelu_sigmoid, Activation::swish}) {
    for (const float rate : {0.0F, 0.4F}) {
      SCOPED_TRACE("activation " + std::to_string(static_cast<int>(activation)) + ", dropout " +
                   std::to_string(rate));
      const LinearOptions options = {.activation = activation, .dropout = rate, .rows = &rows.rows};
      fill(bias.gradient(), 0);
      Pass pass = training();
      const Tensor y = linear(pass, x, weight, bias, options);
      const Doubles dy = give_gradient(y);
      Doubles wanted(rows.count(), out), wanted_bias_gradient(1, out);
      for (int64_t r = 0; r < rows.count(); ++r) {
        for (int64_t c = 0; c < out; ++c) {
          const RowKey key = keys[static_cast<size_t>(r)];
          const double kept = rate > 0 ? dropout_multiplier(rate, first_key(), key, 0, c) : 1;
          wanted(r, c) = reference_activation(activation, inner(r, c)) * kept;
          wanted_bias_gradient(0, c) += slope(activation, inner(r, c)) * kept * dy(r, c);
        }
      }
      expect_near(y, wanted, 1e-6, "output");
      tape_.backward();
      expect_near(bias.gradient(), wanted_bias_gradient, 2e-6, "gradient of the bias");
    }
  }
}

// --- logits -----------------------------------------------------------------------------------------

TEST_P(Fused, LogitsAreHiddenTimesWeights) {
  const Tensor hidden = random(3, 10), weight = parameter(21, 10), bias = parameter(1, 21);
  const Doubles from = doubles(hidden), weights = doubles(weight), biases = doubles(bias);
  Doubles wanted(3, 21);
  for (int64_t r = 0; r < 3; ++r) {
    for (int64_t w = 0; w < 21; ++w) {
      wanted(r, w) = biases(0, w);
      for (int64_t c = 0; c < 10; ++c) wanted(r, w) += from(r, c) * weights(w, c);
    }
  }
  Pass pass{device_};
  expect_near(logits(pass, hidden, weight, bias), wanted, 1e-6, "logits");
  Pass recorded = training();
  EXPECT_THROW(logits(recorded, hidden, weight, bias), BrokenInvariant);
}

INSTANTIATE_TEST_SUITE_P(On, Fused, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
