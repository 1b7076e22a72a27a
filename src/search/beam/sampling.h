// Drawing the next token by its probability.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/kernels.h"
#include "search/options.h"

namespace dragoman::internal {

// An element of a row of log-probabilities, drawn with temperature, top_k and top_p: a function of the row and the key.
// Column −1 where nothing may follow.
Element draw(std::span<const float> log_probabilities, const SearchOptions& options, uint64_t key);

// A hash of a sentence, the same wherever and whenever it is translated.
uint64_t source_key(std::span<const int32_t> source);

// The key of a draw: sample number `sample` of a source, at this position of its output.
uint64_t draw_key(const SearchOptions& options, uint64_t source, uint64_t sample, uint64_t position);

}  // namespace dragoman::internal
