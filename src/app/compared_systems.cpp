#include "app/compared_systems.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "report/numbers.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr double significance_level = 0.05;

const char* name_of_test(PairedTest test) {
  return test == PairedTest::bootstrap ? "paired bootstrap resampling" : "paired approximate randomization";
}

}  // namespace

ComparedSystems::ComparedSystems(std::vector<std::string> names, size_t references,
                                 const ScoreOptions& options, const Resampling& resampling)
    : names_(std::move(names)),
      references_(references),
      options_(options),
      resampling_(resampling),
      metrics_(metrics_of(options, options.metric_options())),
      systems_(names_.size()) {
  for (auto& system : systems_) {
    for (const auto& metric : metrics_) system.emplace_back(metric);
  }
}

void ComparedSystems::add(std::span<const std::string_view> hypotheses,
                          std::span<const std::string_view> references) {
  for (size_t i = 0; i < systems_.size(); ++i) {
    for (SentenceStatistics& sentences : systems_[i]) sentences.add(hypotheses[i], references);
  }
}

std::vector<ComparedSystems::Row> ComparedSystems::rows_of(size_t metric) const {
  const SentenceStatistics& baseline = systems_[0][metric];
  const std::optional<PairedTest>& test = resampling_.paired_test;
  const int64_t resamples = test == PairedTest::randomization ? default_resamples : resampling_.samples;
  std::vector<Row> rows;
  for (const auto& system : systems_) {
    Row row = {.score = system[metric].score()};
    if (test && !rows.empty()) {
      const PairedResult result =
          paired_test(*test, baseline, system[metric], resampling_.samples, resampling_.seed);
      row.confidence = result.confidence;
      row.p_value = result.p_value;
    } else if (test || resampling_.intervals) {
      row.confidence = bootstrap_confidence(system[metric], resamples, resampling_.seed);
    }
    rows.push_back(row);
  }
  return rows;
}

// sacreBLEU tells the samples behind the number of references: also those of the intervals beside a randomization.
std::string ComparedSystems::signature_of(const Metric& metric) const {
  std::string signature = metric.signature(references_);
  if (signature.empty() || (!resampling_.paired_test && !resampling_.intervals)) return signature;
  const std::string kind = resampling_.paired_test == PairedTest::randomization
                               ? fmt::format("bs:{}|ar", default_resamples)
                               : "bs";
  return signature.insert(signature.find('|'),
                          fmt::format("|{}:{}|seed:{}", kind, resampling_.samples, resampling_.seed));
}

std::string ComparedSystems::print() const {
  return options_.format == OutputFormat::json ? json_text(json(), 1) + "\n" : text();
}

std::string ComparedSystems::text() const {
  std::string text;
  for (size_t metric = 0; metric < metrics_.size(); ++metric) text += table(metric) + "\n";
  return text + legend();
}

std::string ComparedSystems::table(size_t metric) const {
  const std::vector<Row> rows = rows_of(metric);
  const std::string signature = signature_of(*metrics_[metric]);
  const int64_t digits = options_.digits;
  size_t width = 0;
  for (const std::string& name : names_) width = std::max(width, code_point_count(name));
  std::string text = fmt::format("{}{}{}{}\n", metrics_[metric]->name(), signature.empty() ? "" : "|",
                                 signature, metrics_[metric]->lower_is_better() ? ", lower is better" : "");
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    text += fmt::format("  {:<{}}{:>9.{}f}", names_[i], width, row.score, digits);
    if (row.confidence) text += fmt::format(" ± {:<5.{}f}", row.confidence->half_width, digits);
    if (i > 0) text += fmt::format("{:>+9.{}f}", row.score - rows[0].score, digits);
    if (rows.size() > 1 && i == 0) text += "   baseline";
    if (row.p_value)
      text += fmt::format("   p = {:.4f}{}", *row.p_value, *row.p_value < significance_level ? " *" : "");
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

std::string ComparedSystems::legend() const {
  const SentenceStatistics& any = systems_[0][0];
  std::string text = fmt::format("{} sentences", any.sentences());
  if (references_ > 1) text += fmt::format(", {} references of each", references_);
  text += "\n";
  if (resampling_.paired_test || resampling_.intervals)
    text += "±: half of the 95 % interval, by bootstrap resampling of the sentences\n";
  if (!resampling_.paired_test) return text;
  return text + fmt::format(
                    "p: how likely a difference as large as this is between equally good systems, by {}\n"
                    "*: p < {}, the difference is unlikely to be chance\n",
                    name_of_test(*resampling_.paired_test), significance_level);
}

nlohmann::ordered_json ComparedSystems::json() const {
  auto all = nlohmann::ordered_json::array();
  for (const std::string& name : names_) all.push_back({{"system", name}});
  for (size_t metric = 0; metric < metrics_.size(); ++metric) {
    const std::vector<Row> rows = rows_of(metric);
    for (size_t i = 0; i < rows.size(); ++i) {
      nlohmann::ordered_json one = {{"score", as_printed(rows[i].score, options_.digits)}};
      if (rows[i].p_value) one["p_value"] = *rows[i].p_value;
      if (rows[i].confidence) {
        one["mean"] = as_printed(rows[i].confidence->mean, options_.digits);
        one["ci"] = as_printed(rows[i].confidence->half_width, options_.digits);
      }
      const std::string signature = signature_of(*metrics_[metric]);
      if (!signature.empty()) one["signature"] = signature;
      all[i][metrics_[metric]->name()] = std::move(one);
    }
  }
  return all;
}

}  // namespace dragoman::internal
