#include "api/scoring.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "api/results.h"
#include "search/alignment.h"
#include "search/score.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// A text, what the model reads of it, and where those tokens are in it, in code points.
struct Side {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<TextSpan> spans;
};

struct Pair {
  Side source, target;

  // Those that the encoder or the decoder reads, whichever has more.
  int64_t tokens(const StartTokens& start) const {
    return std::max(source.ids.size(), target.ids.size() + start.size());
  }
};

Side side_of(std::string text, PiecesOfText pieces) {
  std::vector<TextSpan> spans = in_code_points(text, pieces.spans);
  return {std::move(text), std::move(pieces.ids), std::move(spans)};
}

// Outputs without an end mark begin with a token that the decoder is given.
void drop_given_token(PiecesOfText& output) {
  if (output.ids.empty()) return;
  output.ids.erase(output.ids.begin());
  output.spans.erase(output.spans.begin());
}

Pair pair_of(const SavedModel& model, const Direction& direction, const dragoman::TextPair& texts) {
  std::string source = repaired(texts.source), target = repaired(texts.target);
  PiecesOfText of_target = model.vocabularies.target->encode_with_spans(target);
  if (model.vocabularies.target->special().end < 0) drop_given_token(of_target);
  if (!has_encoder(model.model.config) && !source.empty())
    throw UsageError("{} is a language model, which scores texts without a source", model.folder);
  if (!has_encoder(model.model.config)) return {{}, side_of(std::move(target), std::move(of_target))};
  PiecesOfText pieces = model.vocabularies.source->encode_with_spans(source);
  const SourceFrame& frame = direction.sources[0];
  frame.add_to(pieces.ids);
  if (pieces.ids.empty()) pieces.ids.push_back(model.vocabularies.source->special().empty_source_token());
  pieces.spans.insert(pieces.spans.begin(), frame.before.size(), {0, 0});
  pieces.spans.resize(pieces.ids.size(), {source.size(), source.size()});
  return {side_of(std::move(source), std::move(pieces)), side_of(std::move(target), std::move(of_target))};
}

std::vector<WordAlignment> alignment_of(const Pair& pair, const AttentionRows& rows) {
  const auto& [source, target] = pair;
  std::vector<PieceAttention> attention;
  for (size_t t = 0; t < target.spans.size(); ++t) attention.push_back({0, rows[t]});
  return to_public(align_words(source.text, source.spans, target.text, target.spans, attention));
}

class Scorer {
 public:
  Scorer(Service& service, const ScoreSettings& settings)
      : service_(service),
        model_(service.only_model()),
        settings_(settings),
        layer_(alignment_layer(model_.model.config, settings.alignment_layer)),
        claim_(claim_of(settings.client, 0, settings.timeout)),
        direction_(model_.direction({.from = settings.from, .to = settings.to})),
        max_tokens_(std::min(settings.max_length, model_.max_positions - 1) + 1) {}

  void add(const dragoman::TextPair& texts) {
    Pair pair = pair_of(model_, direction_, texts);
    bytes_ += texts.source.size() + texts.target.size();
    const int64_t tokens = pair.tokens(direction_.start);
    const bool too_long = tokens > max_tokens_;
    if (too_long || tokens_ + tokens > settings_.batch_tokens) score_batch();
    if (too_long) {
      scores_.push_back({.total = std::numeric_limits<double>::quiet_NaN()});
      return;
    }
    tokens_ += tokens;
    batch_.push_back(std::move(pair));
  }

  std::vector<Score> finish() {
    score_batch();
    return std::move(scores_);
  }

 private:
  void score_batch() {
    if (batch_.empty()) return;
    PackedSide sources, targets;
    for (const auto& [source, target] : batch_) {
      sources.add(source.ids.data(), source.ids.data() + source.ids.size());
      targets.add(target.ids.data(), target.ids.data() + target.ids.size());
    }
    std::vector<AttentionRows> rows;
    std::vector<std::vector<float>> log_probabilities;
    const auto compute = [&] {
      const StartTokens& start = direction_.start;
      if (settings_.alignment) rows = attention_rows(model_.model, sources, targets, start, layer_);
      log_probabilities =
          score_pairs(model_.model, sources, targets, start, model_.vocabularies.target->special().end);
    };
    Claim claim = claim_;
    claim.cost += static_cast<double>(std::exchange(bytes_, 0));
    service_.run(claim, settings_.stop, compute);
    for (size_t i = 0; i < batch_.size(); ++i) {
      const double total = std::accumulate(log_probabilities[i].begin(), log_probabilities[i].end(), 0.0);
      if (!std::isfinite(total)) throw_not_finite(model_);
      scores_.push_back({total, std::move(log_probabilities[i]), {}});
      if (settings_.alignment) scores_.back().alignment = alignment_of(batch_[i], rows[i]);
    }
    batch_.clear();
    tokens_ = 0;
  }

  Service& service_;
  SavedModel& model_;
  const ScoreSettings& settings_;
  const int64_t layer_;
  const Claim claim_;
  const Direction direction_;
  const int64_t max_tokens_;
  std::vector<Pair> batch_;
  int64_t tokens_ = 0;
  size_t bytes_ = 0;
  std::vector<Score> scores_;
};

}  // namespace

std::vector<Score> score(Service& service, std::span<const dragoman::TextPair> pairs,
                         const ScoreSettings& settings) {
  if (settings.max_length < 1 || settings.batch_tokens < 1 || settings.alignment_layer < 0)
    throw UsageError("max_length and batch_tokens must be at least 1, and alignment_layer at least 0");
  if (settings.alignment && !has_encoder(service.model().model.config))
    throw UsageError("a language model has no source that words could be aligned to");
  Scorer scorer(service, settings);
  for (const dragoman::TextPair& pair : pairs) scorer.add(pair);
  return scorer.finish();
}

}  // namespace dragoman::internal
