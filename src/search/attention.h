// Cross-attention of finished translations.
//
// Computed by one pass over pairs of source and output, after the search and not during it: decoding one token at a
// time and all at once give the same bits. So the search costs nothing extra, and given translations have it, too.
#pragma once

#include <cstdint>
#include <vector>

#include "data/batch.h"
#include "model/transformer.h"
#include "search/options.h"

namespace dragoman {

// A row for each token of the output and one for its end mark: how much of its attention each token of the source had
// when the model said it, as the mean over a layer's heads. A row sums to 1.
using AttentionRows = std::vector<std::vector<float>>;

// Those of every pair, each its own whatever the others are. `layer` 1 is the first of the decoder's.
std::vector<AttentionRows> attention_rows(Transformer& model, const PackedSide& sources,
                                          const PackedSide& targets, int32_t start, int64_t layer);

// The layer whose attention aligns words. 0 asks for the usual one: the last but one, which Garg et al. ("Jointly
// Learning to Align and Translate with Transformer Models", 2019) find the best. Throws OptionError where the model
// has none of that number.
int64_t alignment_layer(const ModelConfig& config, int64_t asked);

// Σ log min(Σ attention, 1) over the tokens of the source but for its end mark (Wu et al., 2016): 0 where all were
// attended to, and the further below the more was left out.
double coverage(const AttentionRows& rows, const std::vector<int32_t>& source, int32_t end);

// The source token that a row attends to most, the first among equals; an end mark only where there is nothing else.
size_t max_attended(const std::vector<float>& row, const std::vector<int32_t>& source, int32_t end);

}  // namespace dragoman
