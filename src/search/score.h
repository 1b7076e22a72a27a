// The probability of given translations under a model, computed for all tokens at once.
#pragma once

#include <cstdint>
#include <vector>

#include "data/batch.h"
#include "model/transformer.h"
#include "text/languages.h"

namespace dragoman::internal {

// The decoder's input for these targets: each after the start tokens.
PackedSide shifted(const PackedSide& targets, const StartTokens& start);

// log p of each token of the targets and of the end mark after them, given the tokens before it; not of the start
// tokens, which are given. They depend only on that pair. `end` −1: there is no end mark.
std::vector<std::vector<float>> score_pairs(Transformer& model, const PackedSide& sources,
                                            const PackedSide& targets, const StartTokens& start, int32_t end);

}  // namespace dragoman::internal
