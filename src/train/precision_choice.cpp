#include "train/precision_choice.h"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "kernels/devices.h"
#include "kernels/machine_peaks.h"
#include "train/random_words.h"
#include "train/trainer.h"
#include "train/training_device.h"

namespace dragoman::internal {
namespace {

constexpr double worthwhile = 1.05;  // times as fast: below, the exact products are the better choice

ModelConfig with_few_layers(ModelConfig config) {
  constexpr int64_t words = 4096;
  config.encoder_layers = config.decoder_layers = 1;
  config.alignment_layer = 0;  // it may be another one's
  config.source_vocabulary = std::min(config.source_vocabulary, words);
  config.target_vocabulary = std::min(config.target_vocabulary, words);
  return config;
}

}  // namespace

double speedup_by_bf16(const ModelConfig& model, const Kernels& kernels, int threads) {
  constexpr int rounds = 3;
  constexpr int64_t sentences = 16, length = 16;
  Device device(kernels, threads);
  Transformer transformer(with_few_layers(model), device, Buffers::weights_and_gradients);
  transformer.parameters.initialise(1);
  Trainer in_fp32(transformer, {.precision = Precision::fp32}),
      in_bf16(transformer, {.precision = Precision::bf16});
  const Batch batch = batch_of_random_words(transformer.config, sentences, length);
  const auto time = [&](Trainer& trainer) {
    const double start = seconds(threads);
    trainer.add_gradients(batch);
    return seconds(threads) - start;
  };
  double fp32 = std::numeric_limits<double>::infinity(), bf16 = fp32;
  for (int round = 0; round < rounds; ++round) {
    fp32 = std::min(fp32, time(in_fp32));
    bf16 = std::min(bf16, time(in_bf16));
  }
  return fp32 / bf16;
}

TrainingPrecision resolved_precision(const Recipe& recipe, const std::string& folder, int threads) {
  if (recipe.training.precision != TrainingPrecision::automatic) return recipe.training.precision;
  const nlohmann::json saved = saved_value(folder, "training/precision");
  if (saved == "fp32") return TrainingPrecision::fp32;
  if (saved == "tf32") return TrainingPrecision::tf32;
  if (saved == "bf16") return TrainingPrecision::bf16;
  const Kernels& kernels = training_kernels(recipe.training);
  if (is_gpu(kernels)) {
    log_info("training.precision is auto: using bf16, since {} is a GPU", device_name(kernels));
    return TrainingPrecision::bf16;
  }
  if (!kernels.low_precision.rounded_is_fast) {
    log_info("training.precision is auto: using fp32, since {} has no fast bf16 instructions", kernels.name);
    return TrainingPrecision::fp32;
  }
  const double speedup = speedup_by_bf16(recipe.model, kernels, threads);
  const TrainingPrecision chosen = speedup >= worthwhile ? TrainingPrecision::bf16 : TrainingPrecision::fp32;
  log_info("training.precision is auto: using {}; bf16 is {:.2f} times as fast as fp32 on this machine",
           chosen == TrainingPrecision::bf16 ? "bf16" : "fp32", speedup);
  return chosen;
}

}  // namespace dragoman::internal
