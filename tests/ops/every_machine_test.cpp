// Every op gives the same on all instruction sets but for rounding, and the same bits on any number of threads.
#include <algorithm>
#include <cmath>

#include "ops/cases.h"
#include "testing.h"

namespace dragoman {
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
  OpResult run(const Kernels& kernels, int threads) {
    Device device(kernels, threads);
    return run_both_ways(device, GetParam(), input_values(GetParam()));
  }
};

TEST_P(EveryMachine, InstructionSetsAgree) {
  const OpResult baseline = run(kernels_for("baseline"), 1);
  for (const Kernels* kernels : every_instruction_set()) {
    SCOPED_TRACE(kernels->name);
    const OpResult result = run(*kernels, 1);
    for (size_t i = 0; i < baseline.outputs.size(); ++i) {
      expect_near(result.outputs[i], baseline.outputs[i], 5e-6, "output " + std::to_string(i));
    }
    for (size_t i = 0; i < baseline.gradients.size(); ++i) {
      expect_near(result.gradients[i], baseline.gradients[i], 1e-5,
                  "the gradient of " + std::string(GetParam().inputs[i].name));
    }
  }
}

TEST_P(EveryMachine, ThreadsChangeNoBit) {
  for (const Kernels* kernels : every_instruction_set()) {
    const OpResult alone = run(*kernels, 1);
    for (const int threads : {2, 3}) {
      SCOPED_TRACE(std::string(kernels->name) + ", threads: " + std::to_string(threads));
      const OpResult result = run(*kernels, threads);
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
}  // namespace dragoman
