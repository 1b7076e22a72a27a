#include "nn/parameters.h"

#include <cmath>

#include "base/error.h"
#include "nn/layers.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

struct ParametersTest : testing::Test {
  Device device{kernels_for(nullptr), 1};
  Parameters parameters{device.pool};
};

TEST_F(ParametersTest, StandInOneBufferEachAtACacheLine) {
  const Tensor a = parameters.declare("a", 3, 5, {}), b = parameters.declare("b", 1, 16, {}),
               c = parameters.declare("c", 2, 9, {});
  parameters.allocate(Buffers::weights_and_gradients);
  const auto weights = parameters.weights(), gradients = parameters.gradients();
  ASSERT_EQ(weights.size(), 16U + 16 + 32);
  EXPECT_EQ(gradients.size(), weights.size());
  EXPECT_EQ(a.data(), weights.data());
  EXPECT_EQ(b.data(), weights.data() + 16);
  EXPECT_EQ(c.data(), weights.data() + 32);
  EXPECT_EQ(c.gradient().data, gradients.data() + 32);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weights.data()) % 64, 0U);
  for (const float w : weights) EXPECT_EQ(w, 0);
  for (const float g : gradients) EXPECT_EQ(g, 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(parameters.list()[static_cast<size_t>(i)].value.storage().index, i);
  EXPECT_THROW(parameters.declare("late", 1, 1, {}), BrokenInvariant);
}

TEST_F(ParametersTest, ConstantsComeLastAndHaveNoGradients) {
  const Tensor constant = parameters.declare_constant("constant", 2, 3, {Initial::Kind::constant, 5}),
               trained = parameters.declare("trained", 3, 5, {});
  parameters.allocate(Buffers::weights_and_gradients);
  parameters.initialise(1);
  EXPECT_EQ(trained.data(), parameters.weights().data());
  EXPECT_EQ(parameters.trained_size(), 16);
  EXPECT_EQ(constant.data(), parameters.weights().data() + 16);
  EXPECT_EQ(constant.data()[0], 5);
  EXPECT_TRUE(trained.has_gradient());
  EXPECT_FALSE(constant.has_gradient());
  EXPECT_EQ(constant.storage().index, 0);
}

TEST_F(ParametersTest, CanBeReadWhereAnothersStand) {
  const Tensor a = parameters.declare("a", 3, 5, {});
  parameters.allocate(Buffers::weights);
  parameters.initialise(1);
  const float packed = 1;
  a.storage().packed = &packed;
  Device elsewhere{kernels_for(nullptr), 1};
  {
    Parameters borrower(elsewhere.pool);
    const Tensor b = borrower.declare("a", 3, 5, {});
    borrower.borrow(parameters);
    EXPECT_EQ(b.data(), a.data());
    EXPECT_EQ(b.storage().packed, &packed);
  }
  EXPECT_EQ(elsewhere.pool.peak(), 0U);
  Parameters other(elsewhere.pool);
  other.declare("b", 3, 5, {});
  EXPECT_THROW(other.borrow(parameters), BrokenInvariant);
}

TEST_F(ParametersTest, ForInferenceHaveNoGradients) {
  const Tensor a = parameters.declare("a", 3, 5, {});
  parameters.allocate(Buffers::weights);
  EXPECT_TRUE(parameters.gradients().empty());
  EXPECT_FALSE(a.has_gradient());
}

double mean_of(const Parameter& p, double power) {
  double sum = 0;
  for (int64_t i = 0; i < p.size(); ++i) sum += std::pow(double{p.value.data()[i]}, power);
  return sum / static_cast<double>(p.size());
}

TEST_F(ParametersTest, BeginAsTheyWereDeclared) {
  parameters.declare("constant", 2, 3, {Initial::Kind::constant, 1});
  parameters.declare("uniform", 100, 100, {Initial::Kind::uniform, 0.3F});
  parameters.declare("normal", 100, 100, {Initial::Kind::normal, 0.3F});
  parameters.allocate(Buffers::weights);
  parameters.initialise(1);
  const auto& list = parameters.list();
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(list[0].value.data()[i], 1);
  float lowest = 1, highest = -1;
  for (int64_t i = 0; i < list[1].size(); ++i) {
    lowest = std::min(lowest, list[1].value.data()[i]);
    highest = std::max(highest, list[1].value.data()[i]);
  }
  EXPECT_GE(lowest, -0.3F);
  EXPECT_LT(lowest, -0.29F);
  EXPECT_LE(highest, 0.3F);
  EXPECT_GT(highest, 0.29F);
  EXPECT_NEAR(mean_of(list[1], 1), 0, 5 * 0.3 / std::sqrt(3.0) / 100);
  EXPECT_NEAR(mean_of(list[2], 1), 0, 5 * 0.3 / 100);
  EXPECT_NEAR(mean_of(list[2], 2), 0.09, 5 * 0.09 * std::sqrt(2.0) / 100);
  EXPECT_NEAR(mean_of(list[2], 4), 3 * 0.0081, 5 * 0.0081 * std::sqrt(96.0) / 100);
}

// A parameter's numbers depend on the seed and its name, not on what else the model has.
TEST_F(ParametersTest, EachHasItsOwnNumbers) {
  const Initial normal = {Initial::Kind::normal, 1};
  const Tensor a = parameters.declare("a", 1, 10, normal), b = parameters.declare("b", 1, 10, normal);
  parameters.allocate(Buffers::weights);
  parameters.initialise(1);
  const std::vector<float> a1(a.data(), a.data() + 10);
  EXPECT_FALSE(same_bits(a1, {b.data(), 10}));
  parameters.initialise(2);
  EXPECT_FALSE(same_bits(a1, {a.data(), 10}));

  Parameters other(device.pool);
  const Tensor first = other.declare("b", 1, 3, normal), again = other.declare("a", 1, 10, normal);
  other.allocate(Buffers::weights);
  other.initialise(1);
  EXPECT_TRUE(same_bits(a1, {again.data(), 10}));
}

TEST_F(ParametersTest, Initialisers) {
  const LayerMaker xavier(parameters, Initialiser::xavier), pytorch(parameters, Initialiser::pytorch);
  xavier.linear("x", 30, 20, {.count = 3});  // each of the three begins as if it stood alone
  pytorch.linear("p", 25, 20);
  xavier.norm("n", 7);
  parameters.allocate(Buffers::weights);
  parameters.initialise(1);
  const auto& list = parameters.list();
  const auto largest = [](const Parameter& p) {
    float top = 0;
    for (int64_t i = 0; i < p.size(); ++i) top = std::max(top, std::abs(p.value.data()[i]));
    return top;
  };
  EXPECT_EQ(list[0].name, "x.weight");
  EXPECT_EQ(list[0].value.columns(), 60);
  EXPECT_NEAR(largest(list[0]), std::sqrt(6.0 / 50), 0.01);
  EXPECT_LE(largest(list[0]), std::sqrt(6.0 / 50));
  EXPECT_EQ(largest(list[1]), 0);
  EXPECT_NEAR(largest(list[2]), 0.2, 0.01);
  EXPECT_LE(largest(list[2]), 0.2F);
  EXPECT_NEAR(largest(list[3]), 0.2, 0.05);
  EXPECT_LE(largest(list[3]), 0.2F);
  EXPECT_EQ(list[4].name, "n.gain");
  for (int i = 0; i < 7; ++i) EXPECT_EQ(list[4].value.data()[i], 1);
  EXPECT_EQ(largest(list[5]), 0);
}

// Decoding keeps weights in the order of its products; new weights are seen once changed() was called.
TEST_F(ParametersTest, ChangedForgetsWhatIsKept) {
  const LayerMaker make(parameters, Initialiser::xavier);
  const Linear layer = make.linear("l", 2, 2);
  parameters.allocate(Buffers::weights);
  const Tensor x(device.pool, 1, 2);
  x.data()[0] = x.data()[1] = 1;
  const auto first = [&] {
    Pass pass{device};
    return linear(pass, x, layer).data()[0];
  };
  EXPECT_EQ(first(), 0);
  const size_t kept = device.pool.in_use();
  layer.weight.data()[0] = 5;
  EXPECT_EQ(first(), 0) << "the packed weight was not kept";
  parameters.changed();
  EXPECT_LT(device.pool.in_use(), kept);
  EXPECT_EQ(first(), 5);
}

}  // namespace
}  // namespace dragoman::internal
