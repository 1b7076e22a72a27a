#include "serve/operation/metrics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/ascii.h"
#include "serve/translations.h"

namespace dragoman::internal {
namespace {

using dragoman::TranslatorStatistics;

constexpr size_t max_pairs = 200;  // with counts of their own: a model of 200 languages has 39,800

std::string label(std::string_view name, std::string_view value) {
  return fmt::format("{}=\"{}\"", name, escaped(value, {{'\\', "\\\\"}, {'"', "\\\""}, {'\n', " "}}));
}

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

}  // namespace

void Histogram::add(double value) {
  ++counts_[static_cast<size_t>(std::ranges::lower_bound(bounds, value) - bounds.begin())];
  sum_ += value;
}

void Histogram::print(std::string& out, std::string_view name, const std::string& labels) const {
  uint64_t count = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    count += counts_[i];
    const std::string bound = i < bounds.size() ? fmt::format("{}", bounds[i]) : "+Inf";
    out += fmt::format("{}_bucket{{{},le=\"{}\"}} {}\n", name, labels, bound, count);
  }
  out += fmt::format("{0}_sum{{{1}}} {2}\n{0}_count{{{1}}} {3}\n", name, labels, sum_, count);
}

void MetricsPage::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

void MetricsPage::value(double value,
                        std::initializer_list<std::pair<std::string_view, std::string_view>> labels) {
  std::string list;
  for (const auto& [name, text] : labels) list += (list.empty() ? "" : ",") + label(name, text);
  text_ += fmt::format("{}{} {}\n", name_, list.empty() ? "" : "{" + list + "}", value);
}

void MetricsPage::histogram(const Histogram& histogram, const std::string& labels) {
  histogram.print(text_, name_, labels);
}

void ServeMetrics::answered(const std::string& route, int status, std::chrono::duration<double> time) {
  const std::lock_guard lock(mutex_);
  ++answers_[{route, status}];
  times_[route].add(time.count());
}

void ServeMetrics::translated(const std::string& pair, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const bool known = pairs_.contains(pair) || pairs_.size() < max_pairs;
  Pair& counted = pairs_[known ? pair : "other"];
  ++counted.texts;
  counted.bytes += bytes;
}

void ServeMetrics::print(MetricsPage& page) const {
  const std::lock_guard lock(mutex_);
  page.family("dragoman_http_requests_total", "counter", "Requests answered.");
  for (const auto& [key, count] : answers_) {
    const std::string status = std::to_string(key.second);
    page.value(static_cast<double>(count), {{"route", key.first}, {"status", status}});
  }
  page.family("dragoman_http_request_seconds", "histogram",
              "Time from a request's headers to the end of its response.");
  for (const auto& [route, times] : times_) page.histogram(times, label("route", route));
  page.family("dragoman_texts_total", "counter", "Texts translated.");
  for (const auto& [pair, counted] : pairs_) page.value(static_cast<double>(counted.texts), {{"pair", pair}});
  page.family("dragoman_text_bytes_total", "counter", "Bytes of the texts translated.");
  for (const auto& [pair, counted] : pairs_) page.value(static_cast<double>(counted.bytes), {{"pair", pair}});
}

std::vector<std::string> labels_of(const std::vector<ServedModel>& models) {
  std::vector<std::string> labels;
  for (const ServedModel& model : models) {
    const bool unique = std::ranges::count(models, model.name, &ServedModel::name) == 1;
    labels.push_back(unique ? model.name : model.folder);
  }
  return labels;
}

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
