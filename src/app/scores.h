// BLEU, chrF, TER and exact matches of a corpus, as the commands that measure translations print them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/shared_options.h"
#include "base/options.h"
#include "metrics/metric.h"

namespace dragoman::internal {

struct ScoreOptions {
  std::vector<std::string> metrics = {"bleu", "chrf"};
  bool lowercase = false;
  Tokenizer tokenizer = Tokenizer::thirteen_a;
  std::string tokenizer_model;
  int64_t word_order = 0;
  TerOptions ter;
  int64_t digits = 2;
  OutputFormat format = OutputFormat::text;

  // Reads the tokenizer's model. Throws a UsageError if the two do not fit.
  MetricOptions metric_options() const;
};

// Among a command's own flags.
void declare(Section& own, ScoreOptions& scores);

// As chosen. Throws a UsageError if one does not exist.
using Metrics = std::vector<std::shared_ptr<const Metric>>;
Metrics metrics_of(const ScoreOptions& options, const MetricOptions& of_metrics);

// Statistics summed over sentences, and the scores that follow from them.
class Scores {
 public:
  Scores(const ScoreOptions& options, size_t references, const MetricOptions& of_metrics)
      : options_(options),
        references_(references),
        metrics_(metrics_of(options, of_metrics)),
        sums_(metrics_.size()) {}

  void add(std::string_view hypothesis, std::span<const std::string_view> references);

  // A line for each metric, "BLEU|SIGNATURE = 31.80 DETAILS", or an array of objects as sacreBLEU prints them.
  std::string text() const;
  nlohmann::ordered_json json() const;
  std::string print() const;  // in the format of the options

 private:
  ScoreOptions options_;
  size_t references_;  // of a sentence
  Metrics metrics_;
  std::vector<MetricSums> sums_;
};

}  // namespace dragoman::internal
