// Muon's steps against singular value decompositions, and what training by it keeps: which parameters it moves, and the
// same bits whatever the number of threads.
#include "train/muon.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "nn/layers.h"
#include "train/batches.h"

namespace dragoman::internal {
namespace {

using Floats = std::vector<float>;

class MuonSteps : public testing::TestWithParam<const Kernels*> {};

// Fixture: make_muon_golden.py, with numpy.
TEST_P(MuonSteps, AreThoseOfSingularValueDecompositions) {
  const auto fixture =
      nlohmann::json::parse(read_file(DRAGOMAN_SOURCE_DIR "/tests/golden/fixtures/muon.json"));
  Device device(*GetParam(), 2);
  for (const auto& c : fixture.at("cases")) {
    Parameters parameters(device.pool);
    parameters.declare("before.bias", 1, 3, {});  // so that the weight has an offset
    const Tensor weight = parameters.declare("layer.weight", c.at("rows"), c.at("columns"), {}, Role::weight,
                                             {c.at("down"), c.at("across")});
    parameters.allocate(Buffers::weights_and_gradients);
    std::ranges::copy(c.at("before").get<Floats>(), weight.writable_values().begin());
    Tensor momentum(device.pool, 1, static_cast<int64_t>(parameters.weights().size()));
    device.memory.fill(momentum.matrix(), 0);
    Muon muon(device, parameters, {.momentum = fixture.at("momentum"), .rate = 2});
    const int64_t offset = parameters.list().back().offset;
    for (const auto& gradients : c.at("gradients")) {
      const auto values = gradients.get<Floats>();
      device.memory.upload(parameters.gradients().data() + offset, values.data(),
                           values.size() * sizeof(float));
      muon.update(fixture.at("rate").get<double>() / 2,
                  {momentum.data(), static_cast<size_t>(momentum.columns())});
    }
    const auto wanted = c.at("after").get<Floats>();
    const HostView<const float> found = weight.values();
    for (size_t i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(found[i], wanted[i], 2e-5) << i << " of " << c.at("rows") << " x " << c.at("columns");
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, MuonSteps, testing::ValuesIn(every_table()), kernels_name);

TEST(MuonTest, LeavesWhatHasNoGradientAsItIs) {
  Device device(kernels_for(nullptr), 1);
  Parameters parameters(device.pool);
  const Linear layer = LayerMaker(parameters, Initialiser::xavier).linear("layer", 6, 10);
  parameters.allocate(Buffers::weights_and_gradients);
  parameters.initialise(1);
  const HostView<const float> values = layer.weight.values();
  const Floats before(values.begin(), values.end());
  Tensor momentum(device.pool, 1, static_cast<int64_t>(parameters.weights().size()));
  device.memory.fill(momentum.matrix(), 0);
  Muon(device, parameters, {}).update(1, {momentum.data(), static_cast<size_t>(momentum.columns())});
  EXPECT_TRUE(std::ranges::equal(layer.weight.values(), before));
}

class MuonTraining : public testing::Test {
 protected:
  static ModelConfig config() { return without_dropout(small_configs()[0].config); }

  // A model, and what trains it.
  struct Run {
    explicit Run(int threads, std::optional<MuonOptions> muon = MuonOptions())
        : small(config(), kernels_for(nullptr), threads, /*gradients=*/true),
          trainer(small.model, {.muon = muon}) {}

    void update(uint64_t batch) { trainer.update(std::vector{random_batch(config(), 8 * batch, 8)}, 1e-2); }
    Floats weights() const { return downloaded(small.device.memory, small.model.parameters.weights()); }

    SmallModel small;
    Trainer trainer;
  };
};

TEST_F(MuonTraining, HasTheSameBitsOnAnyNumberOfThreads) {
  Floats weights;
  for (const int threads : {1, 2, 3}) {
    Run run(threads);
    for (uint64_t i = 0; i < 3; ++i) run.update(i);
    if (weights.empty()) weights = run.weights();
    EXPECT_EQ(run.weights(), weights) << threads << " threads";
  }
}

// What Muon leaves to Adam moves as if all were Adam's.
TEST_F(MuonTraining, MovesTheMatricesOfLayersAlone) {
  Run muon(1), adam(1, std::nullopt);
  const Floats before = muon.weights();
  muon.update(0);
  adam.update(0);
  const Floats by_muon = muon.weights(), by_adam = adam.weights();
  int matrices = 0, others = 0;
  for (const Parameter& parameter : muon.small.model.parameters.list()) {
    const auto begin = static_cast<size_t>(parameter.offset), size = static_cast<size_t>(parameter.size());
    const auto of = [&](const Floats& weights) { return std::span(weights).subspan(begin, size); };
    const bool is_matrix = parameter.name.ends_with(".weight") &&
                           parameter.name.find("embedding") == std::string::npos &&
                           !parameter.name.starts_with("generator");
    EXPECT_EQ(std::ranges::equal(of(by_muon), of(by_adam)), !is_matrix) << parameter.name;
    EXPECT_FALSE(std::ranges::equal(of(by_muon), of(before))) << parameter.name;
    ++(is_matrix ? matrices : others);
  }
  EXPECT_GT(matrices, 5);
  EXPECT_GT(others, 5);
}

// Heads, and groups of 64 hidden units.
TEST_F(MuonTraining, GroupsAreMatricesOfTheirOwn) {
  ModelConfig c = config();
  c.d_ff = 128;
  Device device(kernels_for(nullptr), 1);
  const Transformer model(c, device, Buffers::weights);
  struct Wanted {
    const char* ending;
    Submatrices submatrices;
  };
  const int64_t heads = c.heads;
  const Wanted all[] = {
      {"self_attention.qkv.weight", {1, 3 * heads}}, {"self_attention.output.weight", {heads, 1}},
      {"cross_attention.query.weight", {1, heads}},  {"cross_attention.key_value.weight", {1, 2 * heads}},
      {"cross_attention.output.weight", {heads, 1}}, {"feed_forward.inner.weight", {1, 2}},
      {"feed_forward.outer.weight", {2, 1}}};
  for (const Wanted& wanted : all) {
    const auto found = std::ranges::find_if(model.parameters.list(), [&](const Parameter& parameter) {
      return parameter.name.ends_with(wanted.ending);
    });
    ASSERT_NE(found, model.parameters.list().end()) << wanted.ending;
    EXPECT_EQ(found->submatrices.down, wanted.submatrices.down) << wanted.ending;
    EXPECT_EQ(found->submatrices.across, wanted.submatrices.across) << wanted.ending;
  }
}

}  // namespace
}  // namespace dragoman::internal
