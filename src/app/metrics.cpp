// dragoman metrics: BLEU and chrF of any system's translations.
#include <iostream>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/scores.h"
#include "text/lines.h"

namespace dragoman {
namespace {

struct MetricsOptions {
  std::string hypothesis, reference;
  ScoreOptions scores;
};

void declare(Options& options, MetricsOptions& metrics) {
  auto own = options.section("", "What to measure, and how");
  own.add("hypothesis", metrics.hypothesis, "the translations, one a line; - is standard input");
  own.add("reference", metrics.reference, "what they should be, line by line");
  declare(own, metrics.scores);
}

// Lengths are told of both files to their ends: an error about one line alone does not say where they went apart.
[[noreturn]] void refuse_lengths(LineReader& hypotheses, LineReader& references) {
  std::string_view line;
  while (hypotheses.next(line)) {}
  while (references.next(line)) {}
  throw Error("{} has {} lines and {} has {}: they must be translations of the same sentences, line by line",
              hypotheses.path(), hypotheses.number(), references.path(), references.number());
}

void refuse_other_than_text(std::string_view line, const LineReader& reader) {
  if (!is_text(line)) {
    throw Error("{}:{}: this is no UTF-8 text; iconv converts from other encodings", reader.path(),
                reader.number());
  }
}

Scores measure(const MetricsOptions& options) {
  LineReader hypotheses(options.hypothesis), references(options.reference);
  Scores scores(options.scores);
  std::string_view hypothesis, reference;
  while (true) {
    const bool one = hypotheses.next(hypothesis), other = references.next(reference);
    if (one != other) refuse_lengths(hypotheses, references);
    if (!one) break;
    refuse_other_than_text(hypothesis, hypotheses);
    refuse_other_than_text(reference, references);
    scores.add(hypothesis, reference);
  }
  if (hypotheses.number() == 0) throw Error("{} is empty: there is nothing to measure", options.hypothesis);
  return scores;
}

}  // namespace

void metrics(const Arguments& arguments) {
  MetricsOptions metrics;
  Options options;
  declare(options, metrics);
  CommandLine line("metrics", "BLEU and chrF of translations, as sacreBLEU computes them");
  line.add_options(options);
  if (!line.parse(arguments)) return;
  line.set_flags();
  if (metrics.hypothesis.empty() || metrics.reference.empty()) {
    throw UsageError("metrics needs --hypothesis FILE and --reference FILE: see dragoman metrics --help");
  }
  std::cout << measure(metrics).print();
}

}  // namespace dragoman
