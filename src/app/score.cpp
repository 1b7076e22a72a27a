// dragoman score: the log-probability of each translation of a file, given its source.
#include "search/score.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/paired_lines.h"
#include "app/shared_options.h"
#include "app/translating.h"
#include "base/log.h"
#include "search/alignment.h"

namespace dragoman::internal {
namespace {

// Memory grows with the tokens of a batch and, for the alignment, with their number times that of the longest source.
constexpr int64_t tokens_at_once = 2048;

struct ScoreOptions {
  std::string model, source, target;
  int64_t threads = 0;
  WantedPrecision precision = WantedPrecision::as_saved;
  int64_t max_length = 2000;
  bool alignment = false;
  int64_t alignment_layer = 0;
};

void declare(Options& options, ScoreOptions& o) {
  auto own = options.section("", "Options");
  declare_model(own, o.model, o.threads, o.precision);
  declare_source(own, o.source);
  own.add("target", o.target, "their translations, line by line");
  own.add("max-length", o.max_length, "longest side in subwords; a longer pair is not scored and prints nan",
          at_least(1).at_most(100'000'000));
  own.add("alignment", o.alignment, "print the word alignment, too: after |||, as pairs SOURCE-TARGET");
  declare_alignment_layer(own, o.alignment_layer);
}

// A line, its subwords, and their spans in code points.
struct Side {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<TextSpan> spans;
};

struct Pair {
  Side source, target;

  // The larger of the encoder's and the decoder's input.
  int64_t tokens() const { return std::max(std::ssize(source.ids), std::ssize(target.ids) + 1); }
};

Side side_of(const std::string& text, PiecesOfText pieces) {
  return {text, std::move(pieces.ids), in_code_points(text, pieces.spans)};
}

Pair pair_of(const SavedModel& model, const std::string& source, const std::string& target) {
  PiecesOfText pieces = model.vocabularies.source->encode_with_spans(source);
  if (pieces.ids.empty() || model.readers[0].end_mark) {  // the encoder needs at least one token
    pieces.ids.push_back(model.vocabularies.source->special().end);
    pieces.spans.push_back({source.size(), source.size()});
  }
  return {side_of(source, std::move(pieces)),
          side_of(target, model.vocabularies.target->encode_with_spans(target))};
}

// A pair's words that belong together, after a score: " ||| 0-0 1-2".
std::string alignment_of(const Pair& pair, const AttentionRows& rows) {
  const auto& [source, target] = pair;
  std::vector<PieceAttention> attention;
  for (size_t t = 0; t < target.spans.size(); ++t) attention.push_back({0, rows[t]});
  return " ||| " + pharaoh(align_words(source.text, source.spans, target.text, target.spans, attention));
}

// Scores pairs in batches and prints a line for each, in their order.
class Scorer {
 public:
  Scorer(SavedModel& model, const ScoreOptions& options)
      : model_(model),
        options_(options),
        layer_(alignment_layer(model.model.config, options.alignment_layer)),
        max_tokens_(std::min(options.max_length + 1, model.max_positions)) {}

  void add(const std::string& source, const std::string& target) {
    Pair pair = pair_of(model_, source, target);
    const bool too_long = pair.tokens() > max_tokens_;
    if (too_long || tokens_ + pair.tokens() > tokens_at_once) score_batch();
    if (too_long) return leave_out();
    tokens_ += pair.tokens();
    batch_.push_back(std::move(pair));
  }

  void finish() {
    score_batch();
    if (left_out_ == 0) return;
    log_warning("{} pairs have a side of more than {} subwords and were not scored: they print nan",
                left_out_, max_tokens_ - 1);
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
    const auto [unknown, start, end] = model_.vocabularies.target->special();
    if (options_.alignment) rows = attention_rows(model_.model, sources, targets, start, layer_);
    const auto scores = score_pairs(model_.model, sources, targets, start, end);
    for (size_t i = 0; i < scores.size(); ++i) {
      const double score = std::accumulate(scores[i].begin(), scores[i].end(), 0.0);
      if (!std::isfinite(score)) throw_not_finite(model_);
      std::cout << fmt::format("{:.4f}{}\n", score,
                               options_.alignment ? alignment_of(batch_[i], rows[i]) : "");
    }
    batch_.clear();
    tokens_ = 0;
    flush_output();
  }

  void leave_out() {
    ++left_out_;
    std::cout << "nan" << (options_.alignment ? " ||| " : "") << "\n";
  }

  SavedModel& model_;
  const ScoreOptions& options_;
  const int64_t layer_, max_tokens_;
  std::vector<Pair> batch_;
  int64_t tokens_ = 0, left_out_ = 0;
};

}  // namespace

void score(const Arguments& arguments) {
  ScoreOptions o;
  Options options;
  declare(options, o);
  CommandLine line("score", summary_of("score"));
  line.add_options(options);
  if (!line.parse(arguments)) return;
  line.set_flags();
  if (o.model.empty() || o.source.empty() || o.target.empty())
    throw UsageError("score needs --model DIR, --source FILE and --target FILE: see dragoman score --help");
  if (o.alignment_layer > 0 && !o.alignment)
    throw UsageError("--alignment-layer has no effect without --alignment");

  PairedLines lines(o.source, o.target, InvalidText::repair);
  const auto model = load_model(o.model, o.threads, o.precision);
  Scorer scorer(*model, o);
  while (lines.next()) scorer.add(std::string(lines.first()), std::string(lines.second()));
  scorer.finish();
}

}  // namespace dragoman::internal
