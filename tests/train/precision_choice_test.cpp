#include "train/precision_choice.h"

#include <cmath>

#include "kernels/fastest.h"
#include "kernels/machine_peaks.h"
#include "temporary_folder.h"
#include "train/batches.h"

namespace dragoman::internal {
namespace {

// Products of which each computes some milliseconds more, far longer than any on any machine.
void waste_time() {
  for (const double end = seconds(1) + 0.005; seconds(1) < end;) {}
}

ProductKernels slowed(bool in_bf16) {
  ProductKernels products =
      in_bf16 ? kernels_for(nullptr).low_precision.rounded : kernels_for(nullptr).products;
  if (in_bf16) {
    products.multiply = [](Context& context, ConstMatrix a, ConstMatrix b, Matrix c, const Epilogue& e) {
      kernels_for(nullptr).low_precision.rounded.multiply(context, a, b, c, e);
      waste_time();
    };
  } else {
    products.multiply = [](Context& context, ConstMatrix a, ConstMatrix b, Matrix c, const Epilogue& e) {
      kernels_for(nullptr).products.multiply(context, a, b, c, e);
      waste_time();
    };
  }
  return products;
}

TEST(Fastest, ProductsAreFoundByMeasuring) {
  EXPECT_TRUE(is_faster(kernels_for(nullptr).products, slowed(false)));
  EXPECT_FALSE(is_faster(slowed(false), kernels_for(nullptr).products));
}

TEST(Fastest, InBf16HasTheSameBits) {
  constexpr int64_t rows = 20, inner = 333, columns = 70;
  const auto numbers = [](int64_t count, float step) {
    std::vector<float> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(step * static_cast<float>(i));
    return values;
  };
  const std::vector<float> a = numbers(rows * inner, 0.7F), b = numbers(inner * columns, 0.3F);
  CpuContext context(1);
  for (const Kernels* kernels : every_instruction_set()) {
    const auto product = [&](const Kernels& table) {
      std::vector<float> c(rows * columns);
      table.low_precision.rounded.multiply(context, {a.data(), rows, inner, inner},
                                           {b.data(), inner, columns, columns},
                                           {c.data(), rows, columns, columns}, {});
      return c;
    };
    const Kernels& fastest = fastest_in_bf16(*kernels);
    EXPECT_STREQ(fastest.name, kernels->name);
    EXPECT_EQ(&fastest_in_bf16(*kernels), &fastest) << "it is measured once";
    EXPECT_TRUE(same_bits(product(fastest), product(*kernels))) << kernels->name;
  }
}

TEST(AutomaticPrecision, IsThatOfFasterSteps) {
  ModelConfig model = {.encoder_layers = 3, .decoder_layers = 3, .d_model = 64, .heads = 2, .d_ff = 128};
  model.alignment_layer = 2;
  model.source_vocabulary = model.target_vocabulary = 100;
  Kernels slow_fp32 = kernels_for(nullptr), slow_bf16 = slow_fp32;
  slow_fp32.products = slowed(false);
  slow_bf16.low_precision.rounded = slowed(true);
  EXPECT_GT(speedup_by_bf16(model, slow_fp32, 1), 1.2);
  EXPECT_LT(speedup_by_bf16(model, slow_bf16, 1), 0.8);
}

TEST(AutomaticPrecision, TimesSentencesThatTheModelCanRead) {
  ModelConfig model = {.encoder_layers = 1, .decoder_layers = 1, .d_model = 16, .heads = 2, .d_ff = 32};
  model.source_vocabulary = model.target_vocabulary = 100;
  model.positions = Positions::learned;
  model.max_positions = 5;
  EXPECT_GT(speedup_by_bf16(model, kernels_for(nullptr), 1), 0);
}

TEST(AutomaticPrecision, IsKeptByAResumedRun) {
  const TemporaryFolder folder;
  Recipe recipe = {.model = {.d_model = 16, .heads = 2, .d_ff = 16},
                   .training = {.precision = TrainingPrecision::automatic}};
  recipe.model.source_vocabulary = recipe.model.target_vocabulary = 10;
  EXPECT_NE(resolved_precision(recipe, folder.path(""), 1), TrainingPrecision::automatic);
  for (const auto& [name, kept] :
       {std::pair("fp32", TrainingPrecision::fp32), std::pair("bf16", TrainingPrecision::bf16)}) {
    folder.write("config.json",
                 fmt::format(R"({{"format": 1, "recipe": {{"training": {{"precision": "{}"}}}}}})", name));
    EXPECT_EQ(resolved_precision(recipe, folder.path(""), 1), kept);
  }
  recipe.training.precision = TrainingPrecision::fp32;  // what is said is what it is
  EXPECT_EQ(resolved_precision(recipe, folder.path(""), 1), TrainingPrecision::fp32);
}

}  // namespace
}  // namespace dragoman::internal
