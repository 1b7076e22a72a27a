// The probability of given translations: what the model makes of them, all tokens at once.
#pragma once

#include <cstdint>
#include <vector>

#include "data/batch.h"
#include "model/transformer.h"

namespace dragoman {

// What the decoder reads when it is to say these targets: each after `start`.
PackedSide shifted(const PackedSide& targets, int32_t start);

// log p of each token of the targets, and of the end mark after them, given what stands before it. A pair's are its
// own, whatever the others are.
std::vector<std::vector<float>> score_pairs(Transformer& model, const PackedSide& sources,
                                            const PackedSide& targets, int32_t start, int32_t end);

}  // namespace dragoman
