// dragoman metrics: BLEU and chrF of any system's translations.
#include <iostream>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/paired_lines.h"
#include "app/scores.h"
#include "app/shared_options.h"
#include "base/error.h"

namespace dragoman::internal {
namespace {

struct MetricsOptions {
  std::string hypothesis, reference;
  ScoreOptions scores;
};

void declare(Options& options, MetricsOptions& metrics) {
  auto own = options.section("", "Options");
  own.add("hypothesis", metrics.hypothesis, "translations to score, one per line; - is standard input");
  declare_reference(own, metrics.reference);
  declare(own, metrics.scores);
}

Scores measure(const MetricsOptions& options) {
  PairedLines lines(options.hypothesis, options.reference, InvalidText::refuse);
  Scores scores(options.scores);
  while (lines.next()) scores.add(lines.first(), lines.second());
  if (lines.number() == 0) throw Error("{} is empty: nothing to evaluate", options.hypothesis);
  return scores;
}

}  // namespace

void metrics(const Arguments& arguments) {
  MetricsOptions metrics;
  if (!read_options(command_named("metrics"), metrics, arguments)) return;
  if (metrics.hypothesis.empty() || metrics.reference.empty()) {
    throw UsageError("metrics needs --hypothesis FILE and --reference FILE: see dragoman metrics --help");
  }
  std::cout << measure(metrics).print();
}

}  // namespace dragoman::internal
