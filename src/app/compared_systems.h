// Several systems' scores on one test set, with intervals and paired tests, as `dragoman metrics` prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/scores.h"
#include "metrics/significance.h"

namespace dragoman::internal {

struct Resampling {
  bool intervals = false;  // a paired test has them anyway
  std::optional<PairedTest> paired_test = {};
  int64_t samples = default_resamples;
  uint64_t seed = default_resampling_seed;
};

class ComparedSystems {
 public:
  // The first system is the baseline.
  ComparedSystems(std::vector<std::string> names, size_t references, const ScoreOptions& options,
                  const Resampling& resampling);

  // A sentence, with a hypothesis of each system.
  void add(std::span<const std::string_view> hypotheses, std::span<const std::string_view> references);

  // A table for each metric, or an array with an object for each system.
  std::string text() const;
  nlohmann::ordered_json json() const;
  std::string print() const;  // in the format of the options

 private:
  struct Row {
    double score = 0;
    std::optional<Confidence> confidence = {};
    std::optional<double> p_value = {};
  };

  std::vector<Row> rows_of(size_t metric) const;
  std::string signature_of(const Metric& metric) const;
  std::string table(size_t metric) const;
  std::string legend() const;

  std::vector<std::string> names_;
  size_t references_;
  ScoreOptions options_;
  Resampling resampling_;
  Metrics metrics_;
  std::vector<std::vector<SentenceStatistics>> systems_;  // of each system, by each metric
};

}  // namespace dragoman::internal
