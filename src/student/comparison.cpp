#include "student/comparison.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "base/signals.h"
#include "base/status_line.h"
#include "dragoman/translator.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "model/folder.h"
#include "student/elapsed.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;
// A kind of input that users type, beside the test set itself.
struct Variant {
  const char* name;
  std::vector<std::string> sources, references;
};

std::vector<Variant> variants_of(const std::vector<TextPair>& test) {
  Variant plain = {.name = "plain", .sources = {}, .references = {}};
  for (const TextPair& pair : test) {
    plain.sources.push_back(pair.source);
    plain.references.push_back(pair.target);
  }
  return {plain};
}

std::vector<std::string> translated(dragoman::Translator& translator, const std::vector<std::string>& texts,
                                    const std::string& what) {
  std::vector<std::future<dragoman::Translation>> waiting;
  const uint64_t client = dragoman::Translator::new_client();
  for (const std::string& text : texts)
    waiting.push_back(translator.submit({.text = text, .tokens = false, .client = client}));
  StatusLine status;
  std::vector<std::string> outputs;
  for (auto& translation : waiting) {
    while (translation.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
      if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped while comparing; nothing is lost");
    outputs.push_back(translation.get().text());
    status.show(what, static_cast<double>(outputs.size()) / static_cast<double>(texts.size()),
                static_cast<double>(outputs.size()), "lines");
  }
  return outputs;
}

ordered_json scores_of(const std::vector<std::string>& outputs, const std::vector<std::string>& references) {
  BleuStatistics bleu;
  ChrfStatistics chrf;
  for (size_t i = 0; i < outputs.size(); ++i) {
    bleu += bleu_statistics(outputs[i], references[i]);
    chrf += chrf_statistics(outputs[i], references[i]);
  }
  return {{"BLEU", bleu_score(bleu).score}, {"chrF", chrf_score(chrf)}};
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
  const std::vector<Variant> variants = variants_of(settings.test);
  ordered_json rows = ordered_json::array(), samples = ordered_json::array();
  const size_t every = std::max<size_t>(settings.test.size() / listed_samples, 1);
  for (size_t i = 0; i < settings.test.size() && samples.size() < listed_samples; i += every)
    samples.push_back({{"source", settings.test[i].source}, {"reference", settings.test[i].target}});
  for (const ComparedModel& model : models) {
    const auto start = Clock::now();
    dragoman::Translator translator(model.folders, {.device = settings.device, .threads = settings.threads});
    ordered_json row = {{"name", model.name},
                        {"seconds_to_start", seconds_since(start)},
                        {"megabytes", megabytes_of(model.folders)}};
    for (const Variant& variant : variants) {
      const auto begin = Clock::now();
      const uint64_t tokens = translator.statistics().target_tokens;
      const std::vector<std::string> outputs =
          translated(translator, variant.sources, fmt::format("{} translates the test set", model.name));
      if (&variant == &variants.front()) {
        row["tokens_per_second"] =
            static_cast<double>(translator.statistics().target_tokens - tokens) / seconds_since(begin);
        for (size_t i = 0; i < samples.size(); ++i) samples[i][model.name] = outputs[i * every];
      }
      row["scores"][variant.name] = scores_of(outputs, variant.references);
    }
    rows.push_back(std::move(row));
  }
  return {{"sentences", settings.test.size()}, {"models", std::move(rows)}, {"samples", std::move(samples)}};
}

std::string comparison_table(const ordered_json& comparison) {
  std::string text =
      fmt::format("{:<28}{:>8}{:>8}{:>10}{:>12}{:>10}\n", "", "BLEU", "chrF", "MB", "tokens/s", "start, s");
  for (const ordered_json& row : comparison.at("models")) {
    const ordered_json& plain = row.at("scores").at("plain");
    text += fmt::format("{:<28}{:>8.1f}{:>8.1f}{:>10.1f}{:>12.0f}{:>10.2f}\n",
                        row.at("name").get<std::string>(), plain.at("BLEU").get<double>(),
                        plain.at("chrF").get<double>(), row.at("megabytes").get<double>(),
                        row.at("tokens_per_second").get<double>(), row.at("seconds_to_start").get<double>());
  }
  return text;
}

}  // namespace dragoman::internal
