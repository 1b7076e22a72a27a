#include "train/batch_size.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/memory.h"
#include "kernels/devices.h"
#include "train/training_device.h"

namespace dragoman::internal {
namespace {

constexpr int64_t least = 256;  // also the step between sizes
// Beyond, larger batches do not help; a GPU is not busy before.
constexpr int64_t most_on_cpu = 16384, most_on_gpu = 32768;
constexpr int64_t part_on_cpu = 2048;

int64_t most_on(const Kernels& kernels) { return is_gpu(kernels) ? most_on_gpu : most_on_cpu; }

// 0: all of a batch.
int64_t part_tokens_on(const Kernels& kernels, const TrainingConfig& training) {
  if (training.part_tokens != automatic_part_tokens) return training.part_tokens;
  return is_gpu(kernels) ? 0 : part_on_cpu;
}

// In bytes: what is free, and what a run takes of it. A GPU's is this process's alone, but kernels need some beside the
// pool.
struct Memory {
  int64_t available, taken;
};
Memory memory_of(const Kernels& kernels, int local_processes) {
  if (!is_gpu(kernels)) {
    const int64_t available = available_memory() / local_processes;
    return {available, available / 2};
  }
  const int64_t available = free_device_memory(kernels);
  return {available, available / 4 * 3};
}

// Floats of the weights, without biases and norms, which are a few thousandths.
int64_t parameter_floats(const ModelConfig& c) {
  const auto square = [&](int64_t heads) { return c.d_model * attention_width(c, heads); };
  const int64_t source_table = has_encoder(c) && !has_shared_embedding(c) ? c.source_vocabulary : 0;
  const int64_t tables = source_table + (has_own_generator(c) ? 2 : 1) * c.target_vocabulary;
  const int64_t stacks = has_encoder(c) ? 2 : 1;
  const int64_t positions = has_fixed_length(c.positions) ? stacks * c.max_positions : 0;
  const int64_t feed_forward = feed_forward_matrices(c) * c.d_model;  // for each of d_ff
  const int64_t own = has_ssru(c) ? 2 * c.d_model * c.d_model : 4 * square(decoder_heads(c));
  const int64_t cross = has_encoder(c) ? 4 * square(decoder_heads(c)) : 0;
  return encoder_layers(c) * (4 * square(c.heads) + feed_forward * c.d_ff) +
         c.decoder_layers * (own + cross + feed_forward * decoder_d_ff(c)) + (tables + positions) * c.d_model;
}

// Floats kept for the backward pass per token of each side.
int64_t kept_floats(const ModelConfig& c) {
  const int64_t d = c.d_model;
  // Self-attention: queries, keys and values; heads; the residual sum. Cross-attention: queries; keys and values of the
  // source; as above. And numbers for each head: one, or three where queries and keys are normalised.
  const auto attention = [&](int64_t heads) {
    return 4 * attention_width(c, heads) + d + (c.query_key_norm ? 3 : 1) * heads;
  };
  const auto feed_forward = [&](int64_t d_ff) {
    const int64_t activated = c.activation == Activation::relu ? 1 : 2;  // the others keep their input
    return (activated + (c.gated ? 2 : 0)) * d_ff + d;  // gated: the other factor, and the product
  };
  const int64_t of_target =
      has_ssru(c) ? 4 * d : attention(decoder_heads(c));  // gates and inputs; states; the sum
  const int64_t of_source = has_encoder(c) ? attention(decoder_heads(c)) : 0;
  const int64_t ends = (has_encoder(c) ? 4 : 2) * d;  // of each stack: embeddings and outputs
  return encoder_layers(c) * (attention(c.heads) + feed_forward(c.d_ff)) +
         c.decoder_layers * (of_target + of_source + feed_forward(decoder_d_ff(c))) + ends;
}

}  // namespace

int64_t training_bytes(const ModelConfig& model, const TrainingConfig& training, const Kernels& kernels,
                       int64_t batch_tokens) {
  const int64_t part_tokens = part_tokens_on(kernels, training);
  const int64_t tokens = part_tokens > 0 ? std::min(batch_tokens, part_tokens) : batch_tokens;  // at once
  const int64_t copies = training.ema > 0 ? 5 : 4;  // weights, gradients, two moments, the moving average
  // In addition the larger of: the loss, with the generator packed both ways and a chunk of logits; and the first
  // gradients of the backward pass.
  const int64_t generator = 2 * model.target_vocabulary * model.d_model;
  const int64_t logits = std::min(tokens * model.target_vocabulary, kernels.logits_per_chunk);
  const int64_t loss = generator + logits + tokens * model.d_model;
  const int64_t gradients = tokens * (decoder_d_ff(model) + 4 * model.d_model);
  const int64_t floats =
      copies * parameter_floats(model) + tokens * kept_floats(model) + std::max(loss, gradients);
  return floats * static_cast<int64_t>(sizeof(float));
}

int64_t fitting_batch_tokens(const ModelConfig& model, const TrainingConfig& training, const Kernels& kernels,
                             int64_t bytes) {
  int64_t tokens = most_on(kernels);
  while (tokens > least && training_bytes(model, training, kernels, tokens) > bytes) tokens -= least;
  return tokens;
}

int64_t resolved_batch_tokens(const Recipe& recipe, const std::string& folder, int local_processes) {
  if (recipe.training.batch_tokens != automatic_batch_tokens) return recipe.training.batch_tokens;
  if (const nlohmann::json saved = saved_value(folder, "training/batch_tokens"); saved.is_number_integer())
    return saved;
  const Kernels& kernels = training_kernels(recipe.training);
  const Memory memory = memory_of(kernels, local_processes);
  const int64_t tokens = fitting_batch_tokens(recipe.model, recipe.training, kernels, memory.taken);
  constexpr double gigabyte = 1 << 30;
  log_info(
      "training.batch_tokens is auto: {}, which takes about {:.2f} of {:.1f} GB available{}", tokens,
      static_cast<double>(training_bytes(recipe.model, recipe.training, kernels, tokens)) / gigabyte,
      static_cast<double>(memory.available) / gigabyte,
      tokens == most_on(kernels) ? " (the maximum)" : "; with smaller training.part_tokens more would fit");
  return tokens;
}

int64_t resolved_part_tokens(const Recipe& recipe, const std::string& folder) {
  if (recipe.training.part_tokens != automatic_part_tokens) return recipe.training.part_tokens;
  if (const nlohmann::json saved = saved_value(folder, "training"); saved.is_object())
    return saved.value("part_tokens",
                       int64_t{0});  // before the option existed, batches were computed as a whole
  const Kernels& kernels = training_kernels(recipe.training);
  if (!is_gpu(kernels)) return part_on_cpu;
  const DataConfig& data = recipe.data;
  const int64_t batch_tokens =
      data.synthetic != Synthetic::none ? data.sentences * data.length : recipe.training.batch_tokens;
  const int64_t bytes = memory_of(kernels, 1).taken;
  if (training_bytes(recipe.model, recipe.training, kernels, batch_tokens) <= bytes) return 0;
  const int64_t part = fitting_batch_tokens(recipe.model, recipe.training, kernels, bytes);
  log_info("training.part_tokens is auto: {}, since the memory of {} has no room for a whole batch", part,
           device_name(kernels));
  return part;
}

}  // namespace dragoman::internal
