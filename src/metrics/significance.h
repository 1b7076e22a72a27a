// Which differences between two systems mean something: paired bootstrap resampling (Koehn, 2004) and paired
// approximate randomisation (Riezler and Maxwell, 2005), as in sacreBLEU.
//
//   SentenceStatistics baseline(metric_named("bleu")), system(metric_named("bleu"));
//   for (each sentence of a test set) baseline.add(...), system.add(...);
//   paired_bootstrap(baseline, system).p_value < 0.05        // the systems differ
//
// Both resample whole test sets and score them from the sums of their sentences' statistics. The numbers drawn depend
// on the seed and the number of sentences alone, so that several metrics are measured on the same samples, and a call
// gives the same result everywhere. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/metric.h"

namespace dragoman::internal {

// The statistics of a system's sentences, by one metric.
class SentenceStatistics {
 public:
  explicit SentenceStatistics(std::shared_ptr<const Metric> metric) : metric_(std::move(metric)) {}

  void add(std::string_view hypothesis, std::span<const std::string_view> references);
  void add(std::string_view hypothesis, std::string_view reference) { add(hypothesis, {&reference, 1}); }

  const Metric& metric() const { return *metric_; }
  size_t sentences() const { return columns_ == 0 ? 0 : values_.size() / columns_; }
  size_t columns() const { return columns_; }
  std::span<const double> row(size_t sentence) const {
    return std::span(values_).subspan(sentence * columns_, columns_);
  }
  const MetricSums& sums() const { return sums_; }  // of all sentences
  double score() const { return metric_->score(sums_); }

 private:
  std::shared_ptr<const Metric> metric_;
  size_t columns_ = 0;
  std::vector<double> values_;  // the rows, one after the other
  MetricSums sums_;
};

inline constexpr int64_t default_resamples = 1000, default_trials = 10000;  // sacreBLEU's
inline constexpr uint64_t default_resampling_seed = 12345;

// Of the scores of resampled test sets: their mean, and half the width of the interval that holds 95 % of them.
struct Confidence {
  double mean = 0, half_width = 0;
};
Confidence bootstrap_confidence(const SentenceStatistics& system, int64_t resamples = default_resamples,
                                uint64_t seed = default_resampling_seed);

// p_value: how likely a difference at least as large is if the two are equally good. 1 for a system and itself; where
// sacreBLEU counts only larger differences, and so gives the smallest possible value, this counts equal ones too.
struct PairedResult {
  double score = 0;       // of the system
  Confidence confidence;  // likewise
  double p_value = 1;
};

// Both need the same number of sentences, at least one, by the same metric.
PairedResult paired_bootstrap(const SentenceStatistics& baseline, const SentenceStatistics& system,
                              int64_t resamples = default_resamples, uint64_t seed = default_resampling_seed);
// Each trial exchanges the two systems' translations of about half of the sentences. The confidence is the bootstrap's.
PairedResult paired_randomization(const SentenceStatistics& baseline, const SentenceStatistics& system,
                                  int64_t trials = default_trials, uint64_t seed = default_resampling_seed);

enum class PairedTest { bootstrap, randomization };
inline int64_t default_samples(PairedTest test) {
  return test == PairedTest::bootstrap ? default_resamples : default_trials;
}
PairedResult paired_test(PairedTest test, const SentenceStatistics& baseline,
                         const SentenceStatistics& system, int64_t samples,
                         uint64_t seed = default_resampling_seed);

}  // namespace dragoman::internal
