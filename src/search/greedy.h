// Greedy decoding: always the most probable next token.
#pragma once

#include <cstdint>
#include <vector>

#include "model/transformer.h"
#include "text/batch.h"

namespace dragoman {

struct GreedyOptions {
  int32_t start = 1;         // the token that every target begins with; not part of the output
  int32_t end = -1;          // the token that ends one, not part of the output; −1: there is none
  int64_t max_length = 100;  // tokens of output
};

// The outputs of all sentences. Each is what its sentence alone would give.
std::vector<std::vector<int32_t>> decode_greedily(Transformer& model, const PackedSide& source,
                                                  const GreedyOptions& options);

}  // namespace dragoman
