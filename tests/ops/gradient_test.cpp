// Every op's backward against finite differences of its forward.
//
// A case's outputs become one number, Σ weights · outputs, summed in double precision. Its derivative along a
// direction is taken from four points, (8(f(h) − f(−h)) − (f(2h) − f(−2h))) / 12h, whose error falls with h⁴, so
// that h can be large beside the rounding of floats.
#include <cmath>

#include "ops/cases.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

class Gradient : public testing::TestWithParam<OpCase> {
 protected:
  Gradient() : values_(input_values(GetParam())) {
    const OpResult result = run_both_ways(device_, GetParam(), values_);
    gradients_ = result.gradients;
    std::vector<size_t> sizes;
    for (const Floats& output : result.outputs) sizes.push_back(output.size());
    weights_ = output_gradients(GetParam(), sizes);
  }

  double value(const std::vector<Floats>& values) {
    const OpResult result = run_forward(device_, GetParam(), values);
    double sum = 0;
    for (size_t i = 0; i < weights_.size(); ++i) {
      for (size_t j = 0; j < weights_[i].size(); ++j)
        sum += double{weights_[i][j]} * double{result.outputs[i][j]};
    }
    return sum;
  }

  // Of the value along a direction of one input.
  double derivative(size_t input, const Floats& direction, double h) {
    const auto at = [&](double distance) {
      std::vector<Floats> moved = values_;
      for (size_t i = 0; i < direction.size(); ++i)
        moved[input][i] += static_cast<float>(distance) * direction[i];
      return value(moved);
    };
    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
  }

  Device device_{kernels_for("baseline"), 1};
  std::vector<Floats> values_, gradients_, weights_;
};

double length(const Floats& v) {
  double squares = 0;
  for (const float x : v) squares += double{x} * double{x};
  return std::sqrt(squares);
}

TEST_P(Gradient, IsTheDerivative) {
  for (size_t input = 0; input < gradients_.size(); ++input) {
    const Floats& gradient = gradients_[input];
    const std::string name = GetParam().inputs[input].name;
    if (gradient.empty()) continue;
    ASSERT_GT(length(gradient), 0) << name;

    const Floats direction = random_floats(gradient.size(), input);
    double expected = 0;
    for (size_t i = 0; i < gradient.size(); ++i) expected += double{gradient[i]} * double{direction[i]};
    EXPECT_NEAR(derivative(input, direction, 0.01), expected, 1e-3 * length(gradient)) << name;

    Random random(input);
    for (int element = 0; element < 3; ++element) {
      const size_t i = random.below(gradient.size());
      Floats unit(gradient.size());
      unit[i] = 1;
      const double typical = length(gradient) / std::sqrt(static_cast<double>(gradient.size()));
      EXPECT_NEAR(derivative(input, unit, 0.02), gradient[i], 1e-3 * typical) << name << ", element " << i;
    }
  }
}

// Nothing of the case is left in the pool: closures and gradients die with their tape.
TEST_P(Gradient, LeavesNoMemoryBehind) { EXPECT_EQ(device_.pool.in_use(), 0U); }

INSTANTIATE_TEST_SUITE_P(Of, Gradient, testing::ValuesIn(small_op_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace dragoman::internal
