#include "metrics/metric.h"

#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "metrics/exact_match.h"

namespace dragoman::internal {
namespace {

int64_t count_of(double value) { return static_cast<int64_t>(std::llround(value)); }

class BleuMetric : public Metric {
 public:
  explicit BleuMetric(BleuOptions options) : options_(std::move(options)) {}

  std::string name() const override { return "BLEU"; }
  std::string signature(size_t references) const override { return bleu_signature(options_, references); }

  MetricSums statistics(std::string_view hypothesis,
                        std::span<const std::string_view> references) const override {
    const BleuStatistics one = bleu_statistics(hypothesis, references, options_);
    MetricSums sums = {static_cast<double>(one.hypothesis_length), static_cast<double>(one.reference_length)};
    for (const auto& counts : {one.matches, one.ngrams})
      sums.insert(sums.end(), counts.begin(), counts.end());
    return sums;
  }

  double score(std::span<const double> sums) const override { return score_of(sums).score; }
  std::string details(std::span<const double> sums) const override { return score_of(sums).details(); }

 private:
  static BleuScore score_of(std::span<const double> sums) {
    BleuStatistics all;
    if (sums.empty()) return bleu_score(all);
    all.hypothesis_length = count_of(sums[0]);
    all.reference_length = count_of(sums[1]);
    for (size_t n = 0; n < all.matches.size(); ++n) {
      all.matches[n] = count_of(sums[2 + n]);
      all.ngrams[n] = count_of(sums[2 + all.matches.size() + n]);
    }
    return bleu_score(all);
  }

  BleuOptions options_;
};

class ChrfMetric : public Metric {
 public:
  explicit ChrfMetric(const ChrfOptions& options) : options_(options) {}

  std::string name() const override { return chrf_name(options_); }
  std::string signature(size_t references) const override { return chrf_signature(options_, references); }

  MetricSums statistics(std::string_view hypothesis,
                        std::span<const std::string_view> references) const override {
    MetricSums sums;
    for (const ChrfStatistics::Order& order : chrf_statistics(hypothesis, references, options_).orders) {
      for (const int64_t count : {order.hypothesis, order.reference, order.matches})
        sums.push_back(static_cast<double>(count));
    }
    return sums;
  }

  double score(std::span<const double> sums) const override {
    ChrfStatistics all;
    for (size_t i = 0; i < sums.size(); i += 3)
      all.orders.push_back({count_of(sums[i]), count_of(sums[i + 1]), count_of(sums[i + 2])});
    return chrf_score(all);
  }

 private:
  ChrfOptions options_;
};

class TerMetric : public Metric {
 public:
  explicit TerMetric(const TerOptions& options) : options_(options) {}

  std::string name() const override { return "TER"; }
  std::string signature(size_t references) const override { return ter_signature(options_, references); }
  bool lower_is_better() const override { return true; }

  MetricSums statistics(std::string_view hypothesis,
                        std::span<const std::string_view> references) const override {
    const TerStatistics one = ter_statistics(hypothesis, references, options_);
    return {static_cast<double>(one.edits), one.reference_length};
  }

  double score(std::span<const double> sums) const override {
    if (sums.empty()) return 0;
    return ter_score({.edits = count_of(sums[0]), .reference_length = sums[1]});
  }

 private:
  TerOptions options_;
};

class ExactMatchMetric : public Metric {
 public:
  std::string name() const override { return "exact match"; }
  std::string signature(size_t) const override { return ""; }

  MetricSums statistics(std::string_view hypothesis,
                        std::span<const std::string_view> references) const override {
    ExactMatches matches;
    for (const std::string_view reference : references) matches.add(hypothesis, reference);
    return {matches.exact > 0 ? 1.0 : 0.0, 1.0};
  }

  double score(std::span<const double> sums) const override { return matches_of(sums).percentage(); }
  std::string details(std::span<const double> sums) const override {
    const ExactMatches matches = matches_of(sums);
    return fmt::format("({} of {})", matches.exact, matches.all);
  }

 private:
  static ExactMatches matches_of(std::span<const double> sums) {
    if (sums.empty()) return {};
    return {.exact = count_of(sums[0]), .all = count_of(sums[1])};
  }
};

}  // namespace

void add_to(MetricSums& sums, std::span<const double> statistics) {
  if (sums.empty()) sums.resize(statistics.size());
  CHECK(sums.size() == statistics.size(), "{} sums and {}", sums.size(), statistics.size());
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += statistics[i];
}

std::shared_ptr<const Metric> metric_named(const std::string& name, const MetricOptions& options) {
  if (name == "bleu") return std::make_shared<BleuMetric>(options.bleu);
  if (name == "chrf") return std::make_shared<ChrfMetric>(options.chrf);
  if (name == "ter") return std::make_shared<TerMetric>(options.ter);
  if (name == "exact_match") return std::make_shared<ExactMatchMetric>();
  throw UsageError("there is no metric \"{}\": use bleu, chrf, ter or exact_match", name);
}

}  // namespace dragoman::internal
