// Where operands are rounded once, by the kernel that writes them, and activations are in bf16 alone, gradients are as
// near to those of floats as where each product rounds its own operands.
#include <cmath>

#include "train/batches.h"

namespace dragoman::internal {
namespace {

struct Step {
  double loss;
  std::vector<float> gradients;
};

Step step_of(const ModelConfig& config, const Kernels& kernels, Precision precision) {
  SmallModel small(config, kernels, 1, /*gradients=*/true);
  Trainer trainer(small.model, {.precision = precision});
  small.model.parameters.clear_gradients();
  const LossSums sums = trainer.add_gradients(random_batch(config, 7, 8));
  const HostView<const float> gradients(small.device.memory, small.model.parameters.gradients());
  return {sums.per_token(), {gradients.begin(), gradients.end()}};
}

// The length of the difference, as a share of the second.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / size);
}

// Of many widths; and with normalised heads that attention takes in bf16 alone.
std::vector<NamedConfig> configs() {
  std::vector<NamedConfig> all = small_configs();
  ModelConfig heads_of_8 = all.front().config;
  heads_of_8.head_width = 8;
  heads_of_8.query_key_norm = true;
  all.push_back({"heads_of_8", heads_of_8});
  return all;
}

TEST(Bf16, GradientsAreAsNearToThoseOfFloatsAsIfOnlyProductsRounded) {
  for (const Kernels* kernels : every_table()) {
    if (kernels->low_precision.round == nullptr) continue;
    Kernels each_product = *kernels;
    each_product.low_precision.round = nullptr;
    for (const NamedConfig& named : configs()) {
      const Step floats = step_of(named.config, *kernels, Precision::fp32),
                 once = step_of(named.config, *kernels, Precision::bf16),
                 often = step_of(named.config, each_product, Precision::bf16);
      const double nearest = distance(often.gradients, floats.gradients);  // some 1 %
      EXPECT_LT(distance(once.gradients, floats.gradients), 1.5 * nearest)
          << named.name << " on " << kernels->name;
      EXPECT_NEAR(once.loss, floats.loss, 2e-3) << named.name << " on " << kernels->name;
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
