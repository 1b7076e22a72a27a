// A batch of random words, to measure speeds with.
#pragma once

#include <cstdint>

#include "data/batch.h"
#include "model/config.h"

namespace dragoman::internal {

// Sentences of `length` words a side, or as many as the model has positions; a language model has no sources. The sizes
// of the vocabularies must be set.
Batch batch_of_random_words(const ModelConfig& model, int64_t sentences, int64_t length);

}  // namespace dragoman::internal
