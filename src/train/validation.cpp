#include "train/validation.h"

#include <algorithm>
#include <chrono>

#include "search/search.h"
#include "text/bleu.h"
#include "text/chrf.h"

namespace dragoman {
namespace {

bool wants(const ValidationConfig& config, const char* metric) {
  return std::ranges::count(config.metrics, metric) > 0;
}

std::vector<std::string> translate_all(Transformer& model, const Task& task) {
  SearchOptions options = {.beam = 1, .max_length_ratio = 2};
  if (task.end < 0) options = {.beam = 1, .max_length = task.target_length, .max_length_ratio = 0};
  std::vector<std::string> translations;
  for (const PackedSide& source : task.validation.sources) {
    for (const auto& found : search_all(model, source, options, {.start = task.start, .end = task.end}))
      translations.push_back(task.target_text(found[0].tokens));
  }
  return translations;
}

}  // namespace

Validation validate_model(Transformer& model, Trainer& trainer, const Task& task,
                          const ValidationConfig& config) {
  const auto begin = std::chrono::steady_clock::now();
  Validation result;
  for (const Batch& batch : task.validation.batches) result.sums += trainer.evaluate(batch);
  if (wants(config, "bleu") || wants(config, "chrf") || config.samples > 0) {
    result.translations = translate_all(model, task);
  }
  BleuStatistics bleu;
  ChrfStatistics chrf;
  for (size_t i = 0; i < result.translations.size(); ++i) {
    if (wants(config, "bleu")) bleu += bleu_statistics(result.translations[i], task.validation.references[i]);
    if (wants(config, "chrf")) chrf += chrf_statistics(result.translations[i], task.validation.references[i]);
  }
  if (wants(config, "bleu")) result.bleu = bleu_score(bleu).score;
  if (wants(config, "chrf")) result.chrf = chrf_score(chrf);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace dragoman
