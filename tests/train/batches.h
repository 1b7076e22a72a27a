// Batches of random pairs, and models to train on them.
#pragma once

#include <numeric>

#include "model/small_models.h"
#include "train/trainer.h"

namespace dragoman::internal {

// Every small model on every table in fp32; and in bf16, on the plainest, on the best and on the GPU's.
inline std::vector<ModelCase> training_cases() {
  std::vector<ModelCase> cases = model_cases();
  for (const NamedConfig& config : small_configs()) {
    for (const Kernels* kernels : every_table()) {
      if (is_gpu_table(kernels) || kernels == every_instruction_set().front() ||
          kernels == every_instruction_set().back())
        cases.push_back({config, kernels, Precision::bf16});
    }
  }
  return few_on_fibers(cases);
}

// The pairs [first, first + count) of an endless corpus: what pair i is depends on i alone.
inline Batch random_batch(const ModelConfig& config, uint64_t first, size_t count, uint64_t longest = 12) {
  Batch batch;
  for (uint64_t pair = first; pair < first + count; ++pair) {
    const Sentence source = random_sentences(3, config.source_vocabulary, longest, 1000 + pair)[2];
    const Sentence target = random_sentences(3, config.target_vocabulary, longest, 2000 + pair)[2];
    batch.pairs.push_back(pair);
    batch.source.add(source.data(), source.data() + source.size());
    batch.target_input.add(target.data(), target.data() + target.size());
    for (size_t i = 0; i < target.size(); ++i) batch.targets.push_back(target[(i + 1) % target.size()]);
  }
  return batch;
}

}  // namespace dragoman::internal
