#include "serve/model_metrics.h"

#include <algorithm>
#include <string>

namespace dragoman::internal {
namespace {

using dragoman::TranslatorStatistics;

struct Family {
  const char *name, *type, *help;
  double (*value)(const TranslatorStatistics&);
};

template <auto member>
double value_of(const TranslatorStatistics& s) {
  return static_cast<double>(s.*member);
}

constexpr Family families[] = {
    {"dragoman_queue_depth", "gauge", "Texts waiting to be translated.",
     value_of<&TranslatorStatistics::waiting>},
    {"dragoman_queue_oldest_seconds", "gauge", "Waiting time of the oldest queued text.",
     value_of<&TranslatorStatistics::oldest_seconds>},
    {"dragoman_batch_sentences", "gauge", "Sentences in the batch.",
     value_of<&TranslatorStatistics::sentences>},
    {"dragoman_batch_size", "gauge", "Maximum sentences in the batch.",
     value_of<&TranslatorStatistics::batch>},
    {"dragoman_steps_total", "counter", "Decoding steps.", value_of<&TranslatorStatistics::steps>},
    {"dragoman_source_tokens_total", "counter", "Source subwords read.",
     value_of<&TranslatorStatistics::source_tokens>},
    {"dragoman_target_tokens_total", "counter", "Target subwords written.",
     value_of<&TranslatorStatistics::target_tokens>},
    {"dragoman_merged_total", "counter", "Sentences merged with an identical one in progress.",
     value_of<&TranslatorStatistics::merged>},
    {"dragoman_cache_hits_total", "counter", "Sentences found in the cache.",
     value_of<&TranslatorStatistics::cache_hits>},
    {"dragoman_cache_misses_total", "counter", "Sentences not found in the cache.",
     value_of<&TranslatorStatistics::cache_misses>},
    {"dragoman_cache_bytes", "gauge", "Memory used by the cache.",
     value_of<&TranslatorStatistics::cache_bytes>}};

// A model's name, or its folder where others have the same name.
std::vector<std::string> labels_of(const std::vector<ServedModel>& models) {
  std::vector<std::string> labels;
  for (const ServedModel& model : models) {
    const bool unique = std::ranges::count(models, model.name, &ServedModel::name) == 1;
    labels.push_back(unique ? model.name : model.folder);
  }
  return labels;
}

}  // namespace

void print_models(MetricsPage& page, const std::vector<ServedModel>& models) {
  std::vector<TranslatorStatistics> counts;
  for (const ServedModel& model : models) counts.push_back(model.translator->statistics());
  const std::vector<std::string> labels = labels_of(models);
  for (const Family& family : families) {
    if (models.empty()) return;
    page.family(family.name, family.type, family.help);
    for (size_t i = 0; i < models.size(); ++i) page.value(family.value(counts[i]), {{"model", labels[i]}});
  }
}

}  // namespace dragoman::internal
