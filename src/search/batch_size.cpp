#include "search/batch_size.h"

#include <algorithm>

#include "kernels/devices.h"
#include "model/caches.h"

namespace dragoman::internal {
namespace {

// Longer than nearly all sentences; a batch of longer ones has room in what is left free.
constexpr int64_t source_tokens = 100, target_tokens = 100;
// Rows of the target's cache for each token: the hypotheses of a beam have most of their tokens in common.
constexpr int64_t rows_per_token = 2;
constexpr int64_t usual_beam = 5;

int64_t bytes_of(Numbers numbers) { return numbers == Numbers::floats ? sizeof(float) : sizeof(uint16_t); }

// A cache grows by half.
int64_t cached_bytes(const Transformer& model) {
  const ModelConfig& c = model.config;
  const int64_t source_values = has_encoder(c) ? source_tokens * source_cache_columns(c) : 0,
                target_values = rows_per_token * target_tokens * target_cache_columns(c);
  const int64_t source = source_values * bytes_of(source_cache_numbers(model)),
                target = target_values * bytes_of(target_cache_numbers(model));
  return c.decoder_layers * (source + target) * 3 / 2;
}

// Of an encoder's layer; the decoder's step has fewer rows. A row: the residual sum, queries, keys and values, heads,
// and the inner activation.
int64_t encoder_floats(const ModelConfig& c) {
  return has_encoder(c) ? source_tokens * (2 * c.d_model + 4 * attention_width(c, c.heads) + c.d_ff) : 0;
}

int64_t bytes_per_sentence(const Transformer& model) {
  const ModelConfig& c = model.config;
  const int64_t floats = encoder_floats(c) + usual_beam * c.target_vocabulary;
  return cached_bytes(model) + floats * static_cast<int64_t>(sizeof(float));
}

int64_t bytes_of_weights(const Transformer& model) {
  int64_t floats = 0;
  for (const Parameter& parameter : model.parameters.list()) floats += parameter.size();
  return floats * static_cast<int64_t>(sizeof(float));
}

// At most: low precision takes no more, with the rows that a GPU keeps of bf16 beside the panels.
int64_t bytes_of_weights(const SavedModel& model) {
  int64_t bytes = bytes_of_weights(model.model);
  for (const auto& other : model.others) bytes += bytes_of_weights(*other);
  return bytes + (model.language_model != nullptr ? bytes_of_weights(*model.language_model) : 0);
}

}  // namespace

int64_t bytes_per_sentence(const SavedModel& model) {
  int64_t bytes = bytes_per_sentence(model.model);
  for (const auto& other : model.others) bytes += bytes_per_sentence(*other);
  if (model.language_model != nullptr) bytes += bytes_per_sentence(*model.language_model);
  return bytes;
}

// A third is left: for reserved sentences, kernels' workspaces, wider beams and longer sentences.
int64_t sentences_that_fit(int64_t bytes_per_sentence, int64_t free_bytes, int64_t batches) {
  return std::clamp<int64_t>(free_bytes / 3 * 2 / batches / bytes_per_sentence, 1, most_on_gpu);
}

// The model is on its own device already; on the others its weights are still to come.
int64_t automatic_sentences(const SavedModel& model, std::span<const Kernels* const> devices,
                            int64_t batches) {
  if (!is_gpu(model.device.kernels)) return batch_on_cpu;
  int64_t free_bytes = free_device_memory(model.device.kernels);
  for (const Kernels* device : devices) {
    if (device == &model.device.kernels) continue;
    free_bytes = std::min(free_bytes, free_device_memory(*device) - bytes_of_weights(model));
  }
  return sentences_that_fit(bytes_per_sentence(model), free_bytes, batches);
}

}  // namespace dragoman::internal
