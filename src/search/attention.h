// Cross-attention of translations: of given ones by one pass over pairs of source and output. A search keeps what its
// own steps computed, in the same bits.
#pragma once

#include <cstdint>
#include <vector>

#include "data/batch.h"
#include "model/transformer.h"
#include "search/options.h"
#include "text/languages.h"

namespace dragoman::internal {

// A row for each token of the output and one for its end mark: its attention to each token of the source, the mean over
// a layer's heads; the first head's alone where that has learned to align words. A row sums to 1.
using AttentionRows = std::vector<std::vector<float>>;

// Of a row of heads side by side, each `stride` wide: the mean of the first `heads` ones' weights of the first `keys`
// tokens.
std::vector<float> mean_over_heads(const float* row, int64_t heads, int64_t stride, int64_t keys);

// The rows of every pair, which depend only on that pair. `layer`: of the decoder, from 1 on.
std::vector<AttentionRows> attention_rows(Transformer& model, const PackedSide& sources,
                                          const PackedSide& targets, const StartTokens& start, int64_t layer);

// The layer whose attention aligns words. 0 asks for the default: the one that has learned to, by guided alignment;
// else the last but one, which Garg et al. ("Jointly Learning to Align and Translate with Transformer Models", 2019)
// find best. Throws OptionError where the model has no such layer.
int64_t alignment_layer(const ModelConfig& config, int64_t requested);

// How many of a layer's heads align words, the first ones: all, or the one that has learned to.
int64_t alignment_heads(const ModelConfig& config, int64_t layer);

// The tokens of a source that are not text: its end mark and its language; −1: it has none.
struct SourceMarks {
  int32_t end = -1, language = -1;

  bool contain(int32_t id) const { return id == end || id == language; }
};

// Σ log min(Σ attention, 1) over the tokens of the source that count (Wu et al., 2016): 0 where all were attended to,
// and the lower the more was left out.
double coverage(const AttentionRows& rows, const std::vector<bool>& counts);

// The source token that a row attends to most, the first among equals; a mark only where there is no other token.
size_t max_attended(const std::vector<float>& row, const std::vector<int32_t>& source,
                    const SourceMarks& marks);

}  // namespace dragoman::internal
