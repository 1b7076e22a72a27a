#include "train/validation.h"

#include <algorithm>
#include <limits>

#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/exact_match.h"
#include "search/search.h"

namespace dragoman::internal {
namespace {

constexpr int64_t longest_sample = 60;  // tokens by which a language model continues a text

bool wants(const ValidationConfig& config, const char* metric) {
  return std::ranges::count(config.metrics, metric) > 0;
}

// At least the first `count` sentences, group by group; fewer when stopped.
std::vector<std::string> translate_first(size_t count, Transformer& model, const Task& task, int64_t beam,
                                         const std::function<bool()>& stop_requested) {
  SearchOptions options = {.beam = beam, .max_length_ratio = 2};
  if (!has_encoder(model.config))
    options = {.beam = beam, .max_length = longest_sample, .max_length_ratio = 0};
  if (task.end < 0) options = {.beam = beam, .max_length = task.target_length, .max_length_ratio = 0};
  SearchSettings settings = {.start = task.start, .end = task.end};
  if (has_fixed_length(model.config.positions)) settings.max_output_length = model.config.max_positions - 1;
  std::vector<std::string> translations;
  for (const PackedSide& source : task.validation.sources) {
    if (translations.size() >= count || stop_requested()) break;
    for (const auto& found : search_all(model, source, options, settings))
      translations.push_back(task.target_text(found[0].tokens));
  }
  return translations;
}

void measure(Validation& validation, const Task& task, const ValidationConfig& config) {
  BleuStatistics bleu;
  ChrfStatistics chrf;
  ExactMatches matches;
  for (size_t i = 0; i < validation.translations.size(); ++i) {
    const std::string &translation = validation.translations[i], &reference = task.validation.references[i];
    if (wants(config, "bleu")) bleu += bleu_statistics(translation, reference);
    if (wants(config, "chrf")) chrf += chrf_statistics(translation, reference);
    matches.add(translation, reference);
  }
  if (wants(config, "bleu")) validation.bleu = bleu_score(bleu).score;
  if (wants(config, "chrf")) validation.chrf = chrf_score(chrf);
  if (wants(config, "exact_match")) validation.exact_match = matches.percentage();
}

KeepBestBy best_by(const Task& task) {
  return task.validation.empty() ? KeepBestBy::train_loss : task.recipe.validation.keep_best_by;
}

// recipe.cpp's validate() has seen to it that the metric is measured.
double value_of(const Validation& validation, KeepBestBy by, const LossSums& recent_sums) {
  switch (by) {
    case KeepBestBy::loss:
      return validation.loss();
    case KeepBestBy::bleu:
      return validation.bleu.value();
    case KeepBestBy::chrf:
      return validation.chrf.value();
    case KeepBestBy::exact_match:
      return validation.exact_match.value();
    case KeepBestBy::train_loss:
      break;
  }
  // Without an update nothing was learnt, and any later loss is better.
  return recent_sums.target_tokens > 0 ? recent_sums.per_token() : std::numeric_limits<double>::max();
}

std::vector<ValidationSample> samples(const Validation& validation, const Task& task) {
  const auto count =
      std::min(static_cast<size_t>(task.recipe.validation.samples), validation.translations.size());
  std::vector<ValidationSample> samples;
  for (size_t i = 0; i < count; ++i)
    samples.push_back({.source = task.validation.source_texts[i],
                       .reference = task.validation.references[i],
                       .translation = validation.translations[i],
                       .is_continued = is_one_sided(task.recipe.data)});
  return samples;
}

}  // namespace

std::optional<Validation> validate_model(Trainer& trainer, const Task& task, const ValidationConfig& config,
                                         const std::function<bool()>& stop_requested) {
  Transformer& model = trainer.model();
  Validation result;
  for (const Batch& batch : task.validation.batches) {
    if (stop_requested()) return {};
    result.sums += trainer.evaluate(batch);
  }
  const bool translates = has_encoder(model.config),
             all_sentences = translates && std::ranges::any_of(config.metrics, [](const auto&metric) {
                               return metric != "loss";
                             });
  const size_t count =
      all_sentences ? task.validation.references.size() : static_cast<size_t>(config.samples);
  result.translations = translate_first(count, model, task, config.beam, stop_requested);
  if (stop_requested()) return {};
  if (translates) measure(result, task, config);
  return result;
}

std::optional<ValidationReport> validate(Trainer& trainer, const Task& task, RunState& state,
                                         const std::function<bool()>& stop_requested) {
  trainer.swap_average();
  const auto validation = [&] {
    const Trainer::PassWeights weights = trainer.pass_weights();
    return validate_model(trainer, task, task.recipe.validation, stop_requested);
  }();
  trainer.swap_average();
  if (!validation) return {};
  const KeepBestBy by = best_by(task);
  ValidationReport report = {.epoch = state.epoch(), .step = trainer.steps(), .seconds = state.seconds};
  report.is_best = state.validations.add(trainer.steps(), value_of(*validation, by, state.recent_sums), by);
  const LossSums& sums = state.recent_sums;
  if (const auto tokens = static_cast<double>(sums.source_tokens + sums.target_tokens); tokens > 0) {
    report.training_loss = sums.unsmoothed_per_token();
    report.alignment_loss = sums.alignment_per_token();
    report.tokens_per_second = tokens / std::max(state.recent_seconds, 1e-9);
  }
  if (task.validation.empty()) return report;
  report.loss = validation->loss();
  report.bleu = validation->bleu;
  report.chrf = validation->chrf;
  report.exact_match = validation->exact_match;
  report.samples = samples(*validation, task);
  return report;
}

}  // namespace dragoman::internal
