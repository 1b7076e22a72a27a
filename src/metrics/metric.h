// BLEU, chrF, TER and exact matches behind one interface, for what treats them alike: commands, the library, paired
// tests.
//
//   const std::shared_ptr<const Metric> metric = metric_named("ter", {});
//   MetricSums sums;
//   for (each sentence) add_to(sums, metric->statistics(hypothesis, references));
//   metric->score(sums)               // 0 to 100; TER may be more
//
// Metrics are immutable, and so thread-safe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/ter.h"

namespace dragoman::internal {

// What a score is computed from. Those of a test set are the sums of those of its sentences.
using MetricSums = std::vector<double>;

// `sums` may be empty: those of no sentence.
void add_to(MetricSums& sums, std::span<const double> statistics);

class Metric {
 public:
  virtual ~Metric() = default;

  virtual std::string name() const = 0;  // "BLEU", "chrF2++", "TER", "exact match"
  // How it is counted, as sacreBLEU writes it; empty for exact matches.
  virtual std::string signature(size_t references) const = 0;
  virtual bool lower_is_better() const { return false; }

  // Of a sentence, with at least one reference.
  virtual MetricSums statistics(std::string_view hypothesis,
                                std::span<const std::string_view> references) const = 0;
  virtual double score(std::span<const double> sums) const = 0;  // 0 for no sentence
  // What else is printed behind the score: BLEU's precisions, how many lines match exactly; or empty.
  virtual std::string details(std::span<const double>) const { return ""; }
};

struct MetricOptions {
  BleuOptions bleu = {};
  ChrfOptions chrf = {};
  TerOptions ter = {};
};

// Throws a UsageError if there is none of this name: bleu, chrf, ter, exact_match.
std::shared_ptr<const Metric> metric_named(const std::string& name, const MetricOptions& options = {});

}  // namespace dragoman::internal
