// The edits of TER: insertions, deletions and substitutions of words, and shifts of phrases, found greedily.
#pragma once

#include <cstdint>
#include <span>

namespace dragoman::internal {

// The number of edits that turn `hypothesis` into `reference`, words as numbers. Finding the fewest is NP-hard; this
// finds what sacreBLEU does, with its limits: edit distances in a band of 50 words around the diagonal, and no more
// shifts once a thousand were tried.
int64_t edits_with_shifts(std::span<const int32_t> hypothesis, std::span<const int32_t> reference);

}  // namespace dragoman::internal
