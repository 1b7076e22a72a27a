// training.batch_tokens = "auto": the largest batches that fit into memory, computed in parts of part_tokens. And
// training.part_tokens = "auto": what is computed at once, on a GPU all of a batch.
//
// Memory is estimated from the model's shapes. Since nothing of the size of a sentence's length squared is kept, it is
// linear in the number of tokens computed at once; a test compares the estimate with the pool's real size. (A trial
// step would use the very memory that may be missing.)
#pragma once

#include <cstdint>
#include <string>

#include "train/recipe.h"

namespace dragoman::internal {

// The peak memory, in bytes, of training with batches of batch_tokens tokens on either side, including weights,
// gradients and moments. The sizes of the vocabularies must be set.
int64_t training_bytes(const ModelConfig& model, const TrainingConfig& training, const Kernels& kernels,
                       int64_t batch_tokens);

// The largest batch size in tokens, up to 16384, or 32768 on a GPU, that can be trained in `bytes`; smaller than a part
// if not even that fits; at least 256.
int64_t fitting_batch_tokens(const ModelConfig& model, const TrainingConfig& training, const Kernels& kernels,
                             int64_t bytes);

// training.batch_tokens as a number. "auto" is the number in the model's folder if a run was started there, so that a
// resumed run makes the same updates. Else it is what fits into half of the available memory, which the
// processes on this machine share, or into three quarters of a GPU's, of which each has its own; it is then logged.
int64_t resolved_batch_tokens(const Recipe& recipe, const std::string& folder, int local_processes = 1);

// training.part_tokens as a number, or 0 for whole batches. "auto" is what the model's folder has if a run was started
// there; else 2048 on a processor, and on a GPU 0, unless its memory has no room for that: then the most that it has
// room for, which is logged. `recipe`: with batch_tokens as a number.
int64_t resolved_part_tokens(const Recipe& recipe, const std::string& folder);

}  // namespace dragoman::internal
