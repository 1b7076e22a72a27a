// Where operands are rounded once, by the kernel that writes them, training computes what it computes where each
// product rounds its own.
#include "train/batches.h"

namespace dragoman::internal {
namespace {

std::vector<float> weights_after_updates(const ModelConfig& config, const Kernels& kernels) {
  SmallModel small(config, kernels, 1, /*gradients=*/true);
  Trainer trainer(small.model, {.part_tokens = 40, .precision = Precision::bf16});
  for (uint64_t step = 0; step < 3; ++step)
    trainer.update(std::vector{random_batch(config, 10 * step, 8)}, 0.01);
  const HostView<const float> weights(small.device.memory, small.model.parameters.weights());
  return {weights.begin(), weights.end()};
}

TEST(RoundedOnce, GivesTheBitsOfRoundingForEachProduct) {
  for (const Kernels* kernels : every_table()) {
    if (kernels->low_precision.round == nullptr) continue;
    Kernels each_product = *kernels;
    each_product.low_precision.round = nullptr;
    for (const NamedConfig& named : small_configs()) {
      EXPECT_TRUE(same_bits(weights_after_updates(named.config, *kernels),
                            weights_after_updates(named.config, each_product)))
          << named.name << " on " << kernels->name;
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
