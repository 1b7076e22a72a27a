#include "train/validation.h"

#include <algorithm>
#include <chrono>

#include "base/signals.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "search/search.h"

namespace dragoman {
namespace {

bool wants(const ValidationConfig& config, const char* metric) {
  return std::ranges::count(config.metrics, metric) > 0;
}

// The first `count` sentences, and those that stand beside them. Fewer where a signal asks to stop.
std::vector<std::string> translate_first(size_t count, Transformer& model, const Task& task, int64_t beam) {
  SearchOptions options = {.beam = beam, .max_length_ratio = 2};
  if (task.end < 0) options = {.beam = beam, .max_length = task.target_length, .max_length_ratio = 0};
  SearchSettings settings = {.start = task.start, .end = task.end};
  if (model.config.positions == Positions::learned)
    settings.max_output_length = model.config.max_positions - 1;
  std::vector<std::string> translations;
  for (const PackedSide& source : task.validation.sources) {
    if (translations.size() >= count || stop_requested() != 0) break;
    for (const auto& found : search_all(model, source, options, settings))
      translations.push_back(task.target_text(found[0].tokens));
  }
  return translations;
}

// BLEU and chrF, as far as they are asked for.
void measure(Validation& validation, const Task& task, const ValidationConfig& config) {
  BleuStatistics bleu;
  ChrfStatistics chrf;
  for (size_t i = 0; i < validation.translations.size(); ++i) {
    const std::string &translation = validation.translations[i], &reference = task.validation.references[i];
    if (wants(config, "bleu")) bleu += bleu_statistics(translation, reference);
    if (wants(config, "chrf")) chrf += chrf_statistics(translation, reference);
  }
  if (wants(config, "bleu")) validation.bleu = bleu_score(bleu).score;
  if (wants(config, "chrf")) validation.chrf = chrf_score(chrf);
}

}  // namespace

std::optional<Validation> validate_model(Transformer& model, Trainer& trainer, const Task& task,
                                         const ValidationConfig& config) {
  const auto begin = std::chrono::steady_clock::now();
  Validation result;
  for (const Batch& batch : task.validation.batches) {
    if (stop_requested() != 0) return {};
    result.sums += trainer.evaluate(batch);
  }
  const bool all = wants(config, "bleu") || wants(config, "chrf");
  const size_t count = all ? task.validation.references.size() : static_cast<size_t>(config.samples);
  result.translations = translate_first(count, model, task, config.beam);
  if (stop_requested() != 0) return {};
  measure(result, task, config);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace dragoman
