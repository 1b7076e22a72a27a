// Training for int8: passes see the weights that the int8 model will have, and updates change those in floats.
#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "model/decoding_weights.h"
#include "nn/kept_weights.h"
#include "train/batches.h"
#include "train/whole_run.h"

namespace dragoman::internal {
namespace {

const ModelConfig& small_config() {
  static const ModelConfig config = small_configs()[0].config;
  return config;
}

std::vector<float> weights_of(const Transformer& model) {
  const HostView<const float> weights(model.device.memory, model.parameters.weights());
  return {weights.begin(), weights.end()};
}

std::vector<float> gradients_of(const Transformer& model) {
  const HostView<const float> gradients(model.device.memory, model.parameters.gradients());
  return {gradients.begin(), gradients.end()};
}

// As long as it lives.
struct RoundedWeights {
  KeptWeights own;

  explicit RoundedWeights(Transformer& model) : own(model.device, model.parameters) {
    CpuContext host(1);
    round_weights_to_int8(host, model.parameters);
  }
};

TEST(RoundedWeightsTest, AreOfTheInt8ModelAndLastAsLongAsTheObject) {
  SmallModel small(small_config(), kernels_for(nullptr), 1);
  const std::vector<float> own = weights_of(small.model);
  {
    const RoundedWeights rounded(small.model);
    const std::vector<float> first = weights_of(small.model);
    EXPECT_NE(first, own);
    const RoundedWeights again(small.model);
    const std::vector<float> second = weights_of(small.model);
    for (size_t i = 0; i < first.size(); ++i) ASSERT_NEAR(second[i], first[i], 1e-6) << i;
  }
  EXPECT_EQ(weights_of(small.model), own);
}

TEST(RoundedWeightsTest, GiveTheLossOfTheInt8ModelUpToItsActivations) {
  const Batch batch = random_batch(small_config(), 0, 8);
  const auto loss_of = [&](Transformer& model) {
    return Trainer(model, {}).evaluate(batch).unsmoothed_per_token();
  };
  SmallModel floats(small_config(), kernels_for(nullptr), 1, /*gradients=*/true),
      int8(small_config(), kernels_for(nullptr), 1, /*gradients=*/true);
  quantize_weights(int8.device, int8.model.parameters, Precision::int8);
  const double wanted = loss_of(int8.model), own = loss_of(floats.model);
  const RoundedWeights rounded(floats.model);
  const double found = loss_of(floats.model);
  EXPECT_NEAR(found, wanted, 2e-3);
  EXPECT_NE(found, own);
}

TEST(RoundedWeightsTest, TakeGradientsWhereTheyAreAndChangeTheOwnWeights) {
  const std::vector<Batch> batches = {random_batch(small_config(), 0, 4), random_batch(small_config(), 4, 3)};
  SmallModel small(small_config(), kernels_for(nullptr), 1, /*gradients=*/true),
      of_rounded(small_config(), kernels_for(nullptr), 1, /*gradients=*/true);
  const std::vector<float> own = weights_of(small.model);
  Trainer trainer(small.model, {.int8_weights = true});
  const Gradients gradients = trainer.compute(batches);
  EXPECT_EQ(weights_of(small.model), own);
  {
    const RoundedWeights rounded(of_rounded.model);
    Trainer(of_rounded.model, {}).compute(batches);
  }
  EXPECT_EQ(gradients_of(small.model), gradients_of(of_rounded.model));
  trainer.apply(gradients, 1e-5);
  const std::vector<float> changed = weights_of(small.model);
  EXPECT_NE(changed, own);
  for (size_t i = 0; i < own.size(); ++i) ASSERT_NEAR(changed[i], own[i], 2e-5) << i;
}

TEST_F(WholeRun, OfInt8WeightsResumesToTheSameBits) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 1};
  recipe_.training.ema = 0.9;
  recipe_.training.max_steps = 4;
  train("floats");
  recipe_.training.weights = TrainedWeights::int8;
  const History whole = train("whole");
  recipe_.training.max_steps = 2;
  train("stopped");
  recipe_.training.max_steps = 4;
  train("stopped");
  const std::string weights = read_file(folder_.path("whole/model.safetensors"));
  EXPECT_EQ(read_file(folder_.path("stopped/model.safetensors")), weights);
  EXPECT_NE(read_file(folder_.path("floats/model.safetensors")), weights);
}

}  // namespace
}  // namespace dragoman::internal
