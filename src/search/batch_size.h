// How many sentences a batch has where nobody says: --batch 0.
//
// A few sentences keep a processor busy. A GPU takes hundreds, and as long for one as for many: there a batch is as
// large as memory holds well, up to where more would no longer help.
#pragma once

#include <cstdint>
#include <span>

#include "search/saved_model.h"

namespace dragoman::internal {

constexpr int64_t batch_on_cpu = 32, most_on_gpu = 1024;

// Device memory for each sentence of a batch, in bytes: caches, logits, and the encoder's activations. For a sentence
// that is longer than most.
int64_t bytes_per_sentence(const SavedModel& model);

// How many of them there are in each of `batches` that share this much free memory: 1 at least.
int64_t sentences_that_fit(int64_t bytes_per_sentence, int64_t free_bytes, int64_t batches);

// For each of `batches` on each device. Goes by what is free now, when the model is loaded.
int64_t automatic_sentences(const SavedModel& model, std::span<const Kernels* const> devices,
                            int64_t batches);

}  // namespace dragoman::internal
