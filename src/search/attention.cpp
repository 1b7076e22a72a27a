#include "search/attention.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "model/attentions.h"
#include "search/score.h"
#include "text/vocabulary.h"

namespace dragoman::internal {
namespace {

constexpr double min_coverage = 1e-10;  // of a token: the logarithm stays finite

}  // namespace

std::vector<float> mean_over_heads(const float* row, int64_t heads, int64_t stride, int64_t keys) {
  std::vector<float> mean(static_cast<size_t>(keys));
  for (int64_t h = 0; h < heads; ++h) {
    for (size_t k = 0; k < mean.size(); ++k) mean[k] += row[h * stride + static_cast<int64_t>(k)];
  }
  for (float& weight : mean) weight /= static_cast<float>(heads);
  return mean;
}

std::vector<AttentionRows> attention_rows(Transformer& model, const PackedSide& sources,
                                          const PackedSide& targets, const StartTokens& start,
                                          int64_t layer) {
  CHECK(sources.sentences() == targets.sentences(), "{} sources, {} targets", sources.sentences(),
        targets.sentences());
  const PackedSide read = shifted(targets, start);
  const std::vector<uint64_t> pairs(sources.lengths.size());
  const Tokens source = pack_tokens(model.device, sources.ids, sources.lengths, pairs),
               target = pack_tokens(model.device, read.ids, read.lengths, pairs);
  const Tensor weights = cross_attention(model, source, target, layer);
  std::vector<AttentionRows> all;
  const HostView<const float> values = weights.values();
  const float* row = values.data();
  for (size_t i = 0; i < targets.lengths.size(); ++i) {
    all.emplace_back();
    row += static_cast<int64_t>(start.forced_length()) * weights.columns();
    for (int32_t t = 0; t <= targets.lengths[i]; ++t, row += weights.columns())
      all.back().push_back(mean_over_heads(row, alignment_heads(model.config, layer), source.spans.longest,
                                           sources.lengths[i]));
  }
  return all;
}

int64_t alignment_layer(const ModelConfig& config, int64_t requested) {
  if (requested > config.decoder_layers) {
    throw OptionError("alignment-layer",
                      fmt::format("is {}, but the decoder of this model has {} layer{}", requested,
                                  config.decoder_layers, config.decoder_layers == 1 ? "" : "s"));
  }
  if (requested > 0) return requested;
  return config.alignment_layer > 0 ? config.alignment_layer
                                    : std::max<int64_t>(config.decoder_layers - 1, 1);
}

int64_t alignment_heads(const ModelConfig& config, int64_t layer) {
  return layer == config.alignment_layer ? 1 : decoder_heads(config);
}

double coverage(const AttentionRows& rows, const std::vector<bool>& counts) {
  double sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    double attended = 0;
    for (const auto& row : rows) attended += static_cast<double>(row[i]);
    if (counts[i]) sum += std::log(std::clamp(attended, min_coverage, 1.0));
  }
  return sum;
}

size_t max_attended(const std::vector<float>& row, const std::vector<int32_t>& source,
                    const SourceMarks& marks) {
  size_t best = 0;
  for (size_t i = 1; i < row.size(); ++i) {
    const bool better = row[i] > row[best] || marks.contain(source[best]);
    if (!marks.contain(source[i]) && better) best = i;
  }
  return best;
}

}  // namespace dragoman::internal
