#include "app/scores.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "report/numbers.h"

namespace dragoman::internal {

void declare(Section& own, ScoreOptions& scores) {
  own.add("metrics", scores.metrics,
          "any of bleu, chrf, ter (edits that make the reference, per 100 words: lower is better) and "
          "exact_match (the percentage of lines that are a reference)");
  own.add("lowercase", scores.lowercase, "ignore case in BLEU and chrF");
  own.add("tokenizer", scores.tokenizer, "tokenizer of BLEU, as in sacreBLEU", tokenizers());
  own.add("tokenizer-model", scores.tokenizer_model,
          "SentencePiece model of the tokenizer: for flores101, flores200 and spBLEU-1K")
      .shows("FILE");
  own.add("chrf-word-order", scores.word_order, "longest word n-grams of chrF; 2: chrF++",
          at_least(0).at_most(4));
  own.add("ter-normalized", scores.ter.normalized, "separate punctuation before TER counts words");
  own.add("ter-no-punctuation", scores.ter.no_punctuation, "leave out punctuation in TER");
  own.add("ter-asian-support", scores.ter.asian_support,
          "with --ter-normalized, each Chinese and Japanese character is a word in TER; with "
          "--ter-no-punctuation, their punctuation is left out too");
  own.add("ter-case-sensitive", scores.ter.case_sensitive, "do not ignore case in TER");
  own.add("digits", scores.digits, "digits after the decimal point", at_least(0).at_most(10));
  declare_format(own, scores.format, "text for people, or a list of sacreBLEU's JSON objects");
}

MetricOptions ScoreOptions::metric_options() const {
  return {.bleu = {.tokenizer = tokenizer,
                   .lowercase = lowercase,
                   .subwords = subwords_for(tokenizer, tokenizer_model)},
          .chrf = {.word_order = static_cast<int>(word_order), .lowercase = lowercase},
          .ter = ter};
}

Metrics metrics_of(const ScoreOptions& options, const MetricOptions& of_metrics) {
  Metrics metrics;
  for (const std::string& name : options.metrics) metrics.push_back(metric_named(name, of_metrics));
  if (metrics.empty()) throw UsageError("--metrics is empty: name some of bleu, chrf, ter and exact_match");
  return metrics;
}

void Scores::add(std::string_view hypothesis, std::span<const std::string_view> references) {
  for (size_t i = 0; i < metrics_.size(); ++i)
    add_to(sums_[i], metrics_[i]->statistics(hypothesis, references));
}

std::string Scores::print() const {
  return options_.format == OutputFormat::json ? json_text(json(), 1) + "\n" : text();
}

std::string Scores::text() const {
  std::string text;
  for (size_t i = 0; i < metrics_.size(); ++i) {
    const Metric& metric = *metrics_[i];
    const std::string signature = metric.signature(references_), details = metric.details(sums_[i]);
    text += fmt::format("{}{}{} = {:.{}f}{}{}\n", metric.name(), signature.empty() ? "" : "|", signature,
                        metric.score(sums_[i]), options_.digits, details.empty() ? "" : " ", details);
  }
  return text;
}

nlohmann::ordered_json Scores::json() const {
  auto all = nlohmann::ordered_json::array();
  for (size_t i = 0; i < metrics_.size(); ++i) {
    const Metric& metric = *metrics_[i];
    const std::string signature = metric.signature(references_), details = metric.details(sums_[i]);
    nlohmann::ordered_json one = {{"name", metric.name()},
                                  {"score", as_printed(metric.score(sums_[i]), options_.digits)}};
    if (!signature.empty()) one["signature"] = signature;
    if (!details.empty()) one["verbose_score"] = details;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace dragoman::internal
