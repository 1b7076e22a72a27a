// dragoman score: the log-probability of each translation of a file, given its source.
#include "search/score.h"

#include <iostream>
#include <numeric>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/paired_lines.h"
#include "app/translating.h"
#include "base/signals.h"

namespace dragoman {
namespace {

constexpr int64_t pairs_at_once = 32;

struct ScoreOptions {
  std::string model, source, target;
  int64_t threads = 0;
  WantedPrecision precision = WantedPrecision::as_saved;
};

void declare(Options& options, ScoreOptions& o) {
  auto own = options.section("", "Which model, and which pairs");
  declare_model(own, o.model, o.threads, o.precision);
  own.add("source", o.source, "the sentences that were translated, one a line; - is standard input");
  own.add("target", o.target, "their translations, line by line");
}

struct Pairs {
  PackedSide sources, targets;

  void add(const SavedModel& model, std::string_view source, std::string_view target) {
    std::vector<int32_t> ids = model.vocabularies.source->encode(source);
    if (ids.empty() || model.source_eos) ids.push_back(eos_id);  // the encoder reads one token at least
    sources.add(ids.data(), ids.data() + ids.size());
    ids = model.vocabularies.target->encode(target);
    targets.add(ids.data(), ids.data() + ids.size());
  }
};

void print_scores(SavedModel& model, const Pairs& pairs) {
  for (const auto& log_p : score_pairs(model.model, pairs.sources, pairs.targets, bos_id, eos_id))
    std::cout << fmt::format("{:.4f}\n", std::accumulate(log_p.begin(), log_p.end(), 0.0));
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
  watch_signals();

  PairedLines lines(o.source, o.target);
  const auto model = load_model(o.model, o.threads, o.precision);
  Pairs pairs;
  while (lines.next()) {
    pairs.add(*model, lines.first(), lines.second());
    if (pairs.sources.sentences() < pairs_at_once) continue;
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped before all pairs were scored");
    print_scores(*model, std::exchange(pairs, {}));
  }
  if (pairs.sources.sentences() > 0) print_scores(*model, pairs);
}

}  // namespace dragoman
