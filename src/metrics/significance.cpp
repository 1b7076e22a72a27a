#include "metrics/significance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace dragoman::internal {
namespace {

// Scores that differ by less differ only by rounding.
constexpr double same_score = 1e-9;

// The sentences of a resampled test set.
void draw(uint64_t seed, int64_t sample, std::vector<size_t>& sentences) {
  Random random(mix(seed, static_cast<uint64_t>(sample)));
  for (size_t& sentence : sentences) sentence = random.below(sentences.size());
}

std::vector<double> resampled_scores(const SentenceStatistics& system, int64_t resamples, uint64_t seed) {
  std::vector<double> scores;
  MetricSums sums(system.columns());
  std::vector<size_t> sentences(system.sentences());
  for (int64_t sample = 0; sample < resamples; ++sample) {
    draw(seed, sample, sentences);
    std::ranges::fill(sums, 0.0);
    for (const size_t sentence : sentences) add_to(sums, system.row(sentence));
    scores.push_back(system.metric().score(sums));
  }
  return scores;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Confidence confidence_of(std::vector<double> scores) {
  const double mean = mean_of(scores);
  std::ranges::sort(scores);
  const size_t outside = scores.size() / 40;  // on each side
  return {mean, (scores[scores.size() - 1 - outside] - scores[outside]) / 2};
}

// The observed difference counts as one more, so that no finite number of samples gives 0.
double p_value_of(std::span<const double> differences, double observed) {
  const auto as_large = std::ranges::count_if(
      differences, [observed](double difference) { return difference >= observed - same_score; });
  return static_cast<double>(as_large + 1) / static_cast<double>(differences.size() + 1);
}

void check_same_sentences(const SentenceStatistics& baseline, const SentenceStatistics& system) {
  CHECK(baseline.sentences() == system.sentences() && baseline.columns() == system.columns(),
        "{} sentences of {} numbers, and {} of {}", baseline.sentences(), baseline.columns(),
        system.sentences(), system.columns());
  CHECK(baseline.sentences() > 0);
}

}  // namespace

void SentenceStatistics::add(std::string_view hypothesis, std::span<const std::string_view> references) {
  const MetricSums statistics = metric_->statistics(hypothesis, references);
  columns_ = statistics.size();
  values_.insert(values_.end(), statistics.begin(), statistics.end());
  add_to(sums_, statistics);
}

Confidence bootstrap_confidence(const SentenceStatistics& system, int64_t resamples, uint64_t seed) {
  CHECK(resamples > 0 && system.sentences() > 0);
  return confidence_of(resampled_scores(system, resamples, seed));
}

PairedResult paired_bootstrap(const SentenceStatistics& baseline, const SentenceStatistics& system,
                              int64_t resamples, uint64_t seed) {
  check_same_sentences(baseline, system);
  CHECK(resamples > 0);
  const std::vector<double> theirs = resampled_scores(baseline, resamples, seed);
  std::vector<double> ours = resampled_scores(system, resamples, seed), differences;
  for (size_t i = 0; i < ours.size(); ++i) differences.push_back(std::abs(ours[i] - theirs[i]));
  // Around their mean: as they would be if the systems were equally good.
  const double mean = mean_of(differences), score = system.score();
  for (double& difference : differences) difference -= mean;
  return {.score = score,
          .confidence = confidence_of(std::move(ours)),
          .p_value = p_value_of(differences, std::abs(score - baseline.score()))};
}

PairedResult paired_randomization(const SentenceStatistics& baseline, const SentenceStatistics& system,
                                  int64_t trials, uint64_t seed) {
  check_same_sentences(baseline, system);
  CHECK(trials > 0);
  const MetricSums &theirs = baseline.sums(), &ours = system.sums();
  MetricSums sums(ours.size()), others(ours.size());
  std::vector<double> differences;
  for (int64_t trial = 0; trial < trials; ++trial) {
    Random random(mix(seed, static_cast<uint64_t>(trial)));
    std::ranges::fill(sums, 0.0);
    uint32_t bits = 0;
    for (size_t i = 0; i < system.sentences(); ++i, bits >>= 1) {
      if (i % 32 == 0) bits = random.word();
      add_to(sums, (bits & 1) != 0 ? system.row(i) : baseline.row(i));
    }
    for (size_t i = 0; i < sums.size(); ++i) others[i] = ours[i] + theirs[i] - sums[i];
    differences.push_back(std::abs(system.metric().score(sums) - system.metric().score(others)));
  }
  const double score = system.score();
  return {.score = score,
          .confidence = bootstrap_confidence(system, default_resamples, seed),
          .p_value = p_value_of(differences, std::abs(score - baseline.score()))};
}

PairedResult paired_test(PairedTest test, const SentenceStatistics& baseline,
                         const SentenceStatistics& system, int64_t samples, uint64_t seed) {
  const auto run = test == PairedTest::bootstrap ? paired_bootstrap : paired_randomization;
  return run(baseline, system, samples, seed);
}

}  // namespace dragoman::internal
