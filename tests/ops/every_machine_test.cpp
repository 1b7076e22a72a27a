// Every op gives the same on all instruction sets up to rounding, and the same bits on any number of threads.
#include <algorithm>
#include <cmath>

#include "ops/cases.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

float largest(const Floats& values) {
  float top = 0;
  for (const float v : values) top = std::max(top, std::abs(v));
  return top;
}

// Both are sums of the same terms: their errors are measured by the largest.
void expect_near(const Floats& values, const Floats& wanted, double tolerance, const std::string& what) {
  ASSERT_EQ(values.size(), wanted.size()) << what;
  const double scale = tolerance * std::max(largest(wanted), 1e-3F);
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], wanted[i], scale) << what << ", element " << i;
}

class EveryMachine : public testing::TestWithParam<OpCase> {
 protected:
  OpResult run(const Kernels& kernels, int threads, Precision precision = Precision::fp32) {
    Device device(kernels, threads);
    return run_both_ways(device, GetParam(), input_values(GetParam()), precision);
  }

  // Every output and gradient of one result beside that of another.
  void expect_all_near(const OpResult& result, const OpResult& wanted, double of_outputs,
                       double of_gradients) {
    for (size_t i = 0; i < wanted.outputs.size(); ++i)
      expect_near(result.outputs[i], wanted.outputs[i], of_outputs, "output " + std::to_string(i));
    for (size_t i = 0; i < wanted.gradients.size(); ++i) {
      expect_near(result.gradients[i], wanted.gradients[i], of_gradients,
                  "the gradient of " + std::string(GetParam().inputs[i].name));
    }
  }
};

TEST_P(EveryMachine, InstructionSetsAgree) {
  const OpResult baseline = run(kernels_for("baseline"), 1);
  for (const Kernels* kernels : every_table()) {
    SCOPED_TRACE(kernels->name);
    expect_all_near(run(*kernels, 1), baseline, 5e-6, 1e-5);
  }
}

// A number rounded to bf16 has 8 bits, and a sum of products has the mean of their errors.
TEST_P(EveryMachine, Bf16IsNearFp32) {
  const OpResult exact = run(kernels_for("baseline"), 1);
  for (const Kernels* kernels : every_table()) {
    SCOPED_TRACE(kernels->name);
    expect_all_near(run(*kernels, 1, Precision::bf16), exact, 0.01, 0.01);
  }
}

TEST_P(EveryMachine, ThreadsChangeNoBit) {
  for (const Kernels* kernels : every_table()) {
    // Beside it stands a table with the same products of floats.
    const Precision precision = kernels->low_precision.rounded_is_fast ? Precision::bf16 : Precision::fp32;
    const OpResult alone = run(*kernels, 1, precision);
    for (const int threads : {2, 3}) {
      SCOPED_TRACE(std::string(kernels->name) + ", threads: " + std::to_string(threads));
      const OpResult result = run(*kernels, threads, precision);
      for (size_t i = 0; i < alone.outputs.size(); ++i)
        EXPECT_TRUE(same_bits(result.outputs[i], alone.outputs[i]));
      for (size_t i = 0; i < alone.gradients.size(); ++i) {
        EXPECT_TRUE(same_bits(result.gradients[i], alone.gradients[i])) << GetParam().inputs[i].name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, EveryMachine, testing::ValuesIn(small_op_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace dragoman::internal
