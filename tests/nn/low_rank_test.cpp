// Low-rank updates: W + A·B and its gradients, by sums written out.
#include "nn/low_rank.h"

#include <algorithm>

#include "nn/kept_weights.h"
#include "nn/layers.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

constexpr int64_t in = 19, out = 37, rank = 3;

class LowRank : public testing::TestWithParam<const Kernels*> {
 protected:
  LowRank() {
    layer = LayerMaker(parameters, Initialiser::xavier).linear("layer", in, out);
    parameters.declare("table", 5, in, {Initial::Kind::normal, 1}, Role::table);
    declare_low_rank_updates(parameters, rank);
    parameters.allocate(Buffers::weights_and_gradients);
    parameters.initialise(7);
  }

  Tensor named(const std::string& name) const {
    const auto found = std::ranges::find(parameters.list(), name, &Parameter::name);
    return found == parameters.list().end() ? Tensor() : found->value;
  }
  std::vector<float> values(const std::string& name) const {
    const HostView<const float> view = named(name).values();
    return {view.begin(), view.end()};
  }
  std::vector<float> gradient(const std::string& name) const {
    const Tensor tensor = named(name);
    return downloaded(device.memory,
                      {tensor.gradient().data, static_cast<size_t>(tensor.rows() * tensor.columns())});
  }
  void fill(const Tensor& tensor, uint64_t key) {
    const std::vector<float> floats = random_floats(tensor.rows() * tensor.columns(), key);
    std::ranges::copy(floats, tensor.writable_values().begin());
  }

  Device device{*GetParam(), 2};
  Parameters parameters{device.pool};
  Linear layer;
  const std::string name_in = low_rank_in("layer.weight"), name_out = low_rank_out("layer.weight");
};

INSTANTIATE_TEST_SUITE_P(All, LowRank, testing::ValuesIn(every_table()), kernels_name);

TEST_P(LowRank, AreDeclaredForWeightsAndZeroAtFirst) {
  ASSERT_EQ(5U, parameters.list().size());
  EXPECT_EQ(in, named(name_in).rows());
  EXPECT_EQ(rank, named(name_in).columns());
  EXPECT_EQ(rank, named(name_out).rows());
  EXPECT_EQ(out, named(name_out).columns());
  EXPECT_TRUE(is_low_rank(name_in) && is_low_rank(name_out) && !is_low_rank("layer.weight"));
  const std::vector<float> before = values("layer.weight");
  LowRankUpdates(parameters).add_to_weights(device);
  EXPECT_TRUE(same_bits(before, values("layer.weight")));
  EXPECT_NE(0, values(name_in)[0]);
}

TEST_P(LowRank, AreAddedToTheirWeights) {
  fill(named(name_out), 3);
  const std::vector<float> w = values("layer.weight"), a = values(name_in), b = values(name_out);
  const LowRankUpdates updates(parameters);
  {
    const KeptWeights kept(device, parameters);
    updates.add_to_weights(device);
    const std::vector<float> found = values("layer.weight");
    for (size_t i = 0; i < in; ++i) {
      for (size_t j = 0; j < out; ++j) {
        double wanted = static_cast<double>(w[i * out + j]);
        for (size_t k = 0; k < rank; ++k)
          wanted += static_cast<double>(a[i * rank + k]) * static_cast<double>(b[k * out + j]);
        ASSERT_NEAR(wanted, static_cast<double>(found[i * out + j]), 1e-6) << i << ", " << j;
      }
    }
  }
  EXPECT_TRUE(same_bits(w, values("layer.weight")));
}

TEST_P(LowRank, TakeTheirGradientsFromTheirWeights) {
  fill(named(name_out), 3);
  const std::vector<float> g = random_floats(in * out, 5);
  device.memory.upload(layer.weight.gradient().data, g.data(), g.size() * sizeof(float));
  LowRankUpdates(parameters).take_gradients(device);
  const std::vector<float> a = values(name_in), b = values(name_out);
  const std::vector<float> of_a = gradient(name_in), of_b = gradient(name_out);
  for (size_t k = 0; k < rank; ++k) {
    for (size_t i = 0; i < in; ++i) {
      double wanted = 0;
      for (size_t j = 0; j < out; ++j)
        wanted += static_cast<double>(g[i * out + j]) * static_cast<double>(b[k * out + j]);
      ASSERT_NEAR(wanted, static_cast<double>(of_a[i * rank + k]), 1e-5);
    }
    for (size_t j = 0; j < out; ++j) {
      double wanted = 0;
      for (size_t i = 0; i < in; ++i)
        wanted += static_cast<double>(a[i * rank + k]) * static_cast<double>(g[i * out + j]);
      ASSERT_NEAR(wanted, static_cast<double>(of_b[k * out + j]), 1e-5);
    }
  }
  EXPECT_TRUE(std::ranges::all_of(gradient("layer.weight"), [](float x) { return x == 0; }));
}

}  // namespace
}  // namespace dragoman::internal
