// dragoman score: the log-probability of each translation of a file, given its source.
#include "search/score.h"

#include <iostream>
#include <numeric>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/paired_lines.h"
#include "app/translating.h"
#include "search/alignment.h"
#include "text/unicode.h"

namespace dragoman {
namespace {

constexpr int64_t pairs_at_once = 32;

struct ScoreOptions {
  std::string model, source, target;
  int64_t threads = 0;
  WantedPrecision precision = WantedPrecision::as_saved;
  bool alignment = false;
  int64_t alignment_layer = 0;
};

void declare(Options& options, ScoreOptions& o) {
  auto own = options.section("", "Which model, and which pairs");
  declare_model(own, o.model, o.threads, o.precision);
  own.add("source", o.source, "the sentences that were translated, one a line; - is standard input");
  own.add("target", o.target, "their translations, line by line");
  own.add("alignment", o.alignment,
          "print which word comes from which, too: after |||, as pairs SOURCE-TARGET");
  own.add("alignment-layer", o.alignment_layer,
          "the decoder's layer whose attention aligns words, the first is 1; 0: the last but one",
          at_least(0));
}

// A line, and where its pieces stand in it, in code points.
struct Side {
  std::string text;
  std::vector<TextSpan> spans;
};

struct Pairs {
  PackedSide sources, targets;
  std::vector<Side> source_sides, target_sides;

  void add(const SavedModel& model, const std::string& source, const std::string& target) {
    PiecesOfText pieces = model.vocabularies.source->encode_with_spans(source);
    if (pieces.ids.empty() || model.source_eos) {  // the encoder reads one token at least
      pieces.ids.push_back(eos_id);
      pieces.spans.push_back({source.size(), source.size()});
    }
    sources.add(pieces.ids.data(), pieces.ids.data() + pieces.ids.size());
    source_sides.push_back({source, in_code_points(source, pieces.spans)});
    pieces = model.vocabularies.target->encode_with_spans(target);
    targets.add(pieces.ids.data(), pieces.ids.data() + pieces.ids.size());
    target_sides.push_back({target, in_code_points(target, pieces.spans)});
  }
};

// A pair's words that belong together, after a score: " ||| 0-0 1-2".
std::string alignment_of(const Pairs& pairs, size_t i, const AttentionRows& rows) {
  const Side &source = pairs.source_sides[i], &target = pairs.target_sides[i];
  std::vector<PieceAttention> attention;
  for (size_t t = 0; t < target.spans.size(); ++t) attention.push_back({0, rows[t]});
  return " ||| " + pharaoh(align_words(source.text, source.spans, target.text, target.spans, attention));
}

void print_scores(SavedModel& model, const Pairs& pairs, const ScoreOptions& o) {
  std::vector<AttentionRows> rows;
  if (o.alignment) {
    const int64_t layer = alignment_layer(model.model.config, o.alignment_layer);
    rows = attention_rows(model.model, pairs.sources, pairs.targets, bos_id, layer);
  }
  const auto scores = score_pairs(model.model, pairs.sources, pairs.targets, bos_id, eos_id);
  for (size_t i = 0; i < scores.size(); ++i) {
    std::cout << fmt::format("{:.4f}{}\n", std::accumulate(scores[i].begin(), scores[i].end(), 0.0),
                             o.alignment ? alignment_of(pairs, i, rows[i]) : "");
  }
  if (!std::cout.flush()) throw Error("cannot write to standard output");
}

}  // namespace

void score(const Arguments& arguments) {
  ScoreOptions o;
  Options options;
  declare(options, o);
  CommandLine line("score",
                   "how probable given translations are to a model: log p of each line, end included");
  line.add_options(options);
  if (!line.parse(arguments)) return;
  line.set_flags();
  if (o.model.empty() || o.source.empty() || o.target.empty())
    throw UsageError("score needs --model DIR, --source FILE and --target FILE: see dragoman score --help");

  PairedLines lines(o.source, o.target);
  const auto model = load_model(o.model, o.threads, o.precision);
  Pairs pairs;
  while (lines.next()) {
    pairs.add(*model, repaired(lines.first()), repaired(lines.second()));
    if (pairs.sources.sentences() < pairs_at_once) continue;
    print_scores(*model, std::exchange(pairs, {}), o);
  }
  if (pairs.sources.sentences() > 0) print_scores(*model, pairs, o);
}

}  // namespace dragoman
