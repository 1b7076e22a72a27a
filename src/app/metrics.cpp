// dragoman metrics: scores of any systems' translations, and which differences between them mean something.
#include <functional>
#include <iostream>
#include <span>
#include <string_view>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/compared_systems.h"
#include "app/parallel_lines.h"
#include "app/scores.h"
#include "app/shared_options.h"
#include "base/error.h"

namespace dragoman::internal {
namespace {

enum class Paired { none, bootstrap, randomization };

struct MetricsOptions {
  std::vector<std::string> hypotheses, references;
  ScoreOptions scores;
  bool confidence = false;
  Paired paired = Paired::none;
  int64_t samples = 0, seed = default_resampling_seed;
};

void declare(Options& options, MetricsOptions& o) {
  auto own = options.section("", "Options");
  own.add("hypothesis", o.hypotheses,
          "translations to score, one per line; several are systems to compare, the first the baseline; - is "
          "standard input")
      .shows("FILE");
  declare_references(own, o.references);
  declare(own, o.scores);
  own.add("confidence", o.confidence,
          "also print the interval that holds 95 % of the scores of resampled test sets");
  own.add(
      "paired", o.paired,
      "test each system against the baseline: by bootstrap resampling (bs) or by approximate randomization "
      "(ar); with intervals",
      {{"none", Paired::none}, {"bs", Paired::bootstrap}, {"ar", Paired::randomization}});
  own.add("samples", o.samples, "samples of --paired and --confidence; auto: 1000, and 10000 for ar",
          at_least(1), {"auto", 0});
  own.add("seed", o.seed, "seed of the samples", at_least(0));
}

Resampling resampling_of(const MetricsOptions& o) {
  Resampling resampling = {.intervals = o.confidence, .seed = static_cast<uint64_t>(o.seed)};
  if (o.paired == Paired::bootstrap) resampling.paired_test = PairedTest::bootstrap;
  if (o.paired == Paired::randomization) resampling.paired_test = PairedTest::randomization;
  resampling.samples = default_samples(resampling.paired_test.value_or(PairedTest::bootstrap));
  if (o.samples > 0) resampling.samples = o.samples;
  return resampling;
}

void check(const MetricsOptions& o, const Options& given) {
  if (o.hypotheses.empty() || o.references.empty())
    throw UsageError("metrics needs --hypothesis FILE and --reference FILE: see dragoman metrics --help");
  if (o.paired != Paired::none && o.hypotheses.size() == 1)
    throw UsageError("--paired compares systems: give --hypothesis FILE for each, the baseline first");
  for (const char* key : {"samples", "seed"})
    if (given.is_given(key) && o.paired == Paired::none && !o.confidence)
      throw UsageError("--{} has no effect without --paired or --confidence", key);
}

// Of all systems, and of all references.
using Texts = std::span<const std::string_view>;

void for_each_sentence(const MetricsOptions& o, const std::function<void(Texts, Texts)>& add) {
  std::vector<std::string> files = o.hypotheses;
  files.insert(files.end(), o.references.begin(), o.references.end());
  ParallelLines lines(files, InvalidText::refuse);
  while (lines.next())
    add(lines.lines().first(o.hypotheses.size()), lines.lines().subspan(o.hypotheses.size()));
  if (lines.number() == 0) throw Error("{} is empty: nothing to evaluate", o.hypotheses[0]);
}

std::string measured_scores(const MetricsOptions& o) {
  if (o.hypotheses.size() == 1 && !o.confidence) {
    Scores scores(o.scores, o.references.size(), o.scores.metric_options());
    for_each_sentence(o, [&](Texts hypotheses, Texts references) { scores.add(hypotheses[0], references); });
    return scores.print();
  }
  ComparedSystems systems(o.hypotheses, o.references.size(), o.scores, resampling_of(o));
  for_each_sentence(o, [&](Texts hypotheses, Texts references) { systems.add(hypotheses, references); });
  return systems.print();
}

}  // namespace

void metrics(const Arguments& arguments) {
  MetricsOptions o;
  Options options;
  if (!read_options(command_named("metrics"), o, arguments, options)) return;
  check(o, options);
  std::cout << measured_scores(o);
}

}  // namespace dragoman::internal
