// Muon's steps against singular value decompositions, and what training by it keeps: which parameters it moves, and the
// same bits whatever the number of threads.
#include "train/muon.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "nn/layers.h"
#include "train/batches.h"

namespace dragoman::internal {
namespace {

using Floats = std::vector<float>;

void set_gradient(Device& device, const Parameters& parameters, size_t index, const Floats& values) {
  float* const gradient = parameters.gradients().data() + parameters.list()[index].offset;
  device.memory.upload(gradient, values.data(), values.size() * sizeof(float));
}

class Momentum {
 public:
  Momentum(Device& device, const Parameters& parameters)
      : memory_(device.pool, 1, static_cast<int64_t>(parameters.weights().size())) {
    device.memory.fill(memory_.matrix(), 0);
  }
  std::span<float> values() const { return {memory_.data(), static_cast<size_t>(memory_.columns())}; }

 private:
  Tensor memory_;
};

class MuonSteps : public testing::TestWithParam<const Kernels*> {
 protected:
  // Square weights of zeros after a step with gradients that these keys determine.
  static std::vector<Floats> moved(int64_t size, const std::vector<int>& keys, Precision precision) {
    Device device(*GetParam(), 2);
    Parameters parameters(device.pool);
    std::vector<Tensor> weights;
    for (const int key : keys)
      weights.push_back(parameters.declare(fmt::format("{}.weight", key), size, size, {}, Role::weight));
    parameters.allocate(Buffers::weights_and_gradients);
    for (size_t i = 0; i < keys.size(); ++i)
      set_gradient(device, parameters, i, random_floats(size * size, static_cast<uint64_t>(keys[i]) + 1));
    const Momentum momentum(device, parameters);
    Muon(device, parameters, {}, precision).update(0.1, momentum.values());
    std::vector<Floats> all;
    for (const Tensor& weight : weights) {
      const HostView<const float> values = weight.values();
      all.emplace_back(values.begin(), values.end());
    }
    return all;
  }
};

// Fixture: make_muon_golden.py, with numpy. All weights are of one model: those of a size move together.
TEST_P(MuonSteps, AreThoseOfSingularValueDecompositions) {
  const auto fixture =
      nlohmann::json::parse(read_file(DRAGOMAN_SOURCE_DIR "/tests/golden/fixtures/muon.json"));
  const auto& cases = fixture.at("cases");
  Device device(*GetParam(), 2);
  Parameters parameters(device.pool);
  parameters.declare("bias", 1, 3, {});  // so that all weights have an offset
  std::vector<Tensor> weights;
  for (const auto& c : cases)
    weights.push_back(parameters.declare(fmt::format("{}.weight", weights.size()), c.at("rows"),
                                         c.at("columns"), {}, Role::weight, {c.at("down"), c.at("across")}));
  parameters.allocate(Buffers::weights_and_gradients);
  for (size_t i = 0; i < cases.size(); ++i)
    std::ranges::copy(cases[i].at("before").get<Floats>(), weights[i].writable_values().begin());
  const Momentum momentum(device, parameters);
  Muon muon(device, parameters, {.momentum = fixture.at("momentum"), .rate = 2}, Precision::fp32);
  for (size_t step = 0; step < cases[0].at("gradients").size(); ++step) {
    for (size_t i = 0; i < cases.size(); ++i)
      set_gradient(device, parameters, i + 1, cases[i].at("gradients")[step].get<Floats>());
    muon.update(fixture.at("rate").get<double>() / 2, momentum.values());
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto wanted = cases[i].at("after").get<Floats>();
    const HostView<const float> found = weights[i].values();
    for (size_t k = 0; k < wanted.size(); ++k)
      ASSERT_NEAR(found[k], wanted[k], 2e-5) << k << " of " << parameters.list()[i + 1].name;
  }
}

// Weights of one size: some that fit into a group, and two whose squares are too large for that, and whose products are
// large enough for all threads. In bf16 it is the same step to a few hundredths, which small singular values make of
// its rounding.
TEST_P(MuonSteps, TogetherAreAsAlone) {
  const bool on_fibers = is_gpu_table(GetParam()) && !is_gpu(*GetParam());  // which are slow
  for (const auto& [count, size] : {std::pair<int, int64_t>{5, 24}, {2, on_fibers ? 80 : 400}}) {
    std::vector<Floats> alone;
    for (int i = 0; i < count; ++i) alone.push_back(moved(size, {i}, Precision::fp32)[0]);
    std::vector<int> all(static_cast<size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(moved(size, all, Precision::fp32), alone);
    const std::vector<Floats> rounded = moved(size, all, Precision::bf16);
    double difference = 0, length = 0;
    for (size_t k = 0; k < alone[0].size(); ++k) {
      difference += std::pow(rounded[0][k] - alone[0][k], 2);
      length += std::pow(alone[0][k], 2);
    }
    EXPECT_LT(difference, 0.05 * 0.05 * length);
    const bool rounds_before = GetParam()->low_precision.round != nullptr;
    EXPECT_EQ(difference > 0, !rounds_before);
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
  const Momentum momentum(device, parameters);
  Muon(device, parameters, {}, Precision::fp32).update(1, momentum.values());
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
