// training.batch_tokens = "auto": the largest batches that memory has room for, a part of part_tokens at a time.
//
// Memory is estimated from the model's shapes. Since nothing as large as a sentence's length squared is ever kept,
// it grows in a line with the tokens that are worked on at once, and the estimate is simple; a test holds it beside
// what the pool really came to. (A trial step would touch the very memory that may not be there.)
#pragma once

#include <cstdint>
#include <string>

#include "train/recipe.h"

namespace dragoman {

// The most bytes in use at once when a model learns from batches with so many tokens on either side: weights,
// gradients and moments included. The model's vocabularies must be known.
int64_t training_bytes(const ModelConfig& model, const TrainingConfig& training, int64_t batch_tokens);

// The largest number of tokens, up to 16384, whose training takes no more than `bytes`: smaller than a part where not
// even a part fits, and 256 where nothing does.
int64_t fitting_batch_tokens(const ModelConfig& model, const TrainingConfig& training, int64_t bytes);

// training.batch_tokens as a number. "auto" is what the model's folder says, where a run has begun in it: an update
// is the same after a resume. Else it is what fits half of the memory that there is now, of which each of the processes
// here has its share; and the log says so.
int64_t resolved_batch_tokens(const Recipe& recipe, const std::string& folder, int processes_here = 1);

}  // namespace dragoman
