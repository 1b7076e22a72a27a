#include "student/comparison.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "base/elapsed.h"
#include "base/random.h"
#include "base/status_line.h"
#include "dragoman/translator.h"
#include "metrics/significance.h"
#include "model/folder.h"
#include "student/model_languages.h"
#include "student/waiting.h"
#include "text/noise.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;
// The test set, and what users make of such sentences.
struct Variant {
  const char* name;
  std::vector<std::string> sources, references;
};

std::vector<Variant> variants_of(const ComparisonSettings& settings) {
  Variant plain = {.name = "plain"}, upper = {.name = "upper case"}, misspelt_ones = {.name = "misspelt"};
  for (size_t i = 0; i < settings.test.size(); ++i) {
    const auto& [source, target] = settings.test[i];
    Random random(mix(mix(0, "misspelt"), i));
    plain.sources.push_back(source);
    upper.sources.push_back(upper_cased(source, settings.from));
    misspelt_ones.sources.push_back(misspelt(source, random, settings.from));
    plain.references.push_back(target);
    upper.references.push_back(upper_cased(target, settings.to));
    misspelt_ones.references.push_back(target);
  }
  return {plain, upper, misspelt_ones};
}

std::vector<std::string> translated(dragoman::Translator& translator, const std::vector<std::string>& texts,
                                    const ComparisonSettings& settings, const std::string& what) {
  const dragoman::Options languages = language_options(translator, settings.from, settings.to);
  std::vector<std::future<dragoman::Translation>> waiting;
  const uint64_t client = dragoman::Translator::new_client();
  for (const std::string& text : texts)
    waiting.push_back(
        translator.submit({.text = text, .options = languages, .tokens = false, .client = client}));
  StatusLine status;
  std::vector<std::string> outputs;
  for (auto& translation : waiting) {
    outputs.push_back(wait_for(translation, "stopped while comparing; nothing is lost").text());
    status.show(what, static_cast<double>(outputs.size()) / static_cast<double>(texts.size()),
                static_cast<double>(outputs.size()), "lines");
  }
  return outputs;
}

// Of each sentence.
struct Statistics {
  SentenceStatistics bleu = SentenceStatistics(metric_named("bleu")),
                     chrf = SentenceStatistics(metric_named("chrf")),
                     ter = SentenceStatistics(metric_named("ter"));
};

Statistics statistics_of(const std::vector<std::string>& outputs,
                         const std::vector<std::string>& references) {
  Statistics all;
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (SentenceStatistics* one : {&all.bleu, &all.chrf, &all.ter}) one->add(outputs[i], references[i]);
  }
  return all;
}

ordered_json scores_of(const Statistics& all) {
  return {{"BLEU", all.bleu.score()}, {"chrF", all.chrf.score()}, {"TER", all.ter.score()}};
}

// How likely a difference in BLEU as large as that from the first model is if both are equally good.
double p_value(const Statistics& first, const Statistics& other) {
  return paired_bootstrap(first.bleu, other.bleu).p_value;
}

double megabytes_of(const std::vector<std::string>& folders) {
  uintmax_t bytes = 0;
  for (const std::string& folder : folders) bytes += std::filesystem::file_size(weights_path(folder));
  return static_cast<double>(bytes) * 1e-6;
}

// How many of the test set's translations are listed, beside each other.
constexpr size_t listed_samples = 20;

}  // namespace

ordered_json compare(const std::vector<ComparedModel>& models, const ComparisonSettings& settings) {
  const std::vector<Variant> variants = variants_of(settings);
  ordered_json rows = ordered_json::array(), samples = ordered_json::array();
  const size_t every = std::max<size_t>(settings.test.size() / listed_samples, 1);
  for (size_t i = 0; i < settings.test.size() && samples.size() < listed_samples; i += every)
    samples.push_back({{"source", settings.test[i].source}, {"reference", settings.test[i].target}});
  Statistics first;  // of the first model, on the test set itself
  for (const ComparedModel& model : models) {
    const auto start = std::chrono::steady_clock::now();
    dragoman::Translator translator(model.folders, {.device = settings.device, .threads = settings.threads});
    ordered_json row = {{"name", model.name},
                        {"seconds_to_start", seconds_since(start)},
                        {"megabytes", megabytes_of(model.folders)}};
    for (const Variant& variant : variants) {
      const auto begin = std::chrono::steady_clock::now();
      const uint64_t tokens = translator.statistics().target_tokens;
      const std::vector<std::string> outputs = translated(
          translator, variant.sources, settings, fmt::format("{} translates the test set", model.name));
      const double seconds = seconds_since(begin);
      const Statistics all = statistics_of(outputs, variant.references);
      if (&variant == &variants.front()) {
        if (rows.empty()) first = all;
        row["p_value"] = p_value(first, all);
        row["tokens_per_second"] =
            static_cast<double>(translator.statistics().target_tokens - tokens) / seconds;
        for (size_t i = 0; i < samples.size(); ++i) samples[i][model.name] = outputs[i * every];
      }
      row["scores"][variant.name] = scores_of(all);
    }
    rows.push_back(std::move(row));
  }
  return {{"sentences", settings.test.size()}, {"models", std::move(rows)}, {"samples", std::move(samples)}};
}

double bleu_of(const std::string& folder, const ComparisonSettings& settings) {
  dragoman::Translator translator(folder, {.device = settings.device, .threads = settings.threads});
  std::vector<std::string> sources;
  for (const TextPair& pair : settings.test) sources.push_back(pair.source);
  const std::vector<std::string> outputs =
      translated(translator, sources, settings, "translating the validation set");
  BleuStatistics sum;
  for (size_t i = 0; i < outputs.size(); ++i) sum += bleu_statistics(outputs[i], settings.test[i].target);
  return bleu_score(sum).score;
}

std::string comparison_table(const ordered_json& comparison) {
  std::string text = fmt::format("{:<20}{:>7}{:>7}{:>7}{:>13}{:>11}{:>9}{:>11}{:>10}\n", "", "BLEU", "chrF",
                                 "TER", "upper case", "misspelt", "MB", "tokens/s", "start, s");
  for (const ordered_json& row : comparison.at("models")) {
    const auto score = [&](const char* variant, const char* metric) {
      return row.at("scores").at(variant).at(metric).get<double>();
    };
    text += fmt::format("{:<20}{:>7.1f}{:>7.1f}{:>7.1f}{:>13.1f}{:>11.1f}{:>9.1f}{:>11.0f}{:>10.2f}\n",
                        row.at("name").get<std::string>(), score("plain", "BLEU"), score("plain", "chrF"),
                        score("plain", "TER"), score("upper case", "BLEU"), score("misspelt", "BLEU"),
                        row.at("megabytes").get<double>(), row.at("tokens_per_second").get<double>(),
                        row.at("seconds_to_start").get<double>());
  }
  return text + "upper case, misspelt: BLEU on the same sentences written so\n";
}

}  // namespace dragoman::internal
