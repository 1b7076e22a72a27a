#include "train/history.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "train/metrics_log.h"

namespace dragoman::internal {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

class Reader {
 public:
  void take(const MetricsEvent& event) {
    update_time(event);
    history_.steps = std::max(history_.steps, event.step);
    history_.epoch = std::max(history_.epoch, event.integer("epoch"));
    history_.ended = event.event == "end";
    if (event.event == "train") add(history_.train, event);
    if (event.event == "validation") add(history_.validation, event);
    if (event.event == "epoch") add(history_.epochs, event);
    if (event.event == "sample") add_sample(event);
    if (event.event == "prepare") history_.prepare = event.values;
    if (event.event == "resume" || event.event == "divergence" || event.values.contains("failed"))
      add_mark(event);
  }

  History finish(int64_t unreadable) {
    history_.seconds = seconds_;
    history_.unreadable = unreadable;
    return std::move(history_);
  }

 private:
  // Training events contain the seconds of training. Without them the clock counts, but no pause before a resume.
  void update_time(const MetricsEvent& event) {
    const double seconds = event.event == "train" ? event.number("seconds") : missing;
    const double elapsed = event.time - last_time_;
    if (std::isfinite(seconds)) {
      seconds_ = seconds;
      has_seconds_ = true;
    } else if (!has_seconds_ && event.event != "resume" && elapsed > 0) {
      seconds_ += elapsed;
    }
    if (std::isfinite(event.time)) last_time_ = event.time;
  }

  void add(Curve& curve, const MetricsEvent& event) {
    for (const auto& [name, value] : event.values.items()) {
      if ((value.is_number() || value.is_null()) && name != "step" && name != "time" && name != "seconds") {
        curve.columns[name].resize(curve.size(), missing);
        curve.columns[name].push_back(event.number(name));
      }
    }
    curve.steps.push_back(event.step);
    curve.seconds.push_back(seconds_);
    for (auto& [name, column] : curve.columns) column.resize(curve.size(), missing);
  }

  void add_sample(const MetricsEvent& event) {
    const std::string source = event.text("source"), translation = event.text("translation");
    auto sample = std::ranges::find(history_.samples, source, &SampleHistory::source);
    if (sample == history_.samples.end()) {
      sample = history_.samples.insert(
          sample, {.source = source, .reference = event.text("reference"), .translations = {}});
    }
    auto& known = sample->translations;
    if (known.empty() || known.back().second != translation) known.emplace_back(event.step, translation);
  }

  void add_mark(const MetricsEvent& event) {
    const std::string failed = event.text("failed");
    history_.marks.push_back({.event = event.event,
                              .reason = failed.empty() ? event.text("reason") : failed,
                              .step = event.step,
                              .seconds = seconds_});
  }

  History history_;
  double last_time_ = missing, seconds_ = 0;
  bool has_seconds_ = false;  // from training events
};

// The mean and range of the finite ones of values [begin, end); NaN if there are none.
struct Spread {
  double mean = missing, low = missing, high = missing;
};

Spread range_of(const std::vector<double>& values, size_t begin, size_t end) {
  Spread range;
  double sum = 0, count = 0;
  for (size_t i = begin; i < end; ++i) {
    if (!std::isfinite(values[i])) continue;
    range.low = std::fmin(range.low, values[i]);
    range.high = std::fmax(range.high, values[i]);
    sum += values[i];
    count += 1;
  }
  if (count > 0) range.mean = sum / count;
  return range;
}

}  // namespace

const std::vector<double>* Curve::column(const std::string& name) const {
  const auto found = columns.find(name);
  return found == columns.end() ? nullptr : &found->second;
}

History read_history(const std::string& path) {
  Reader reader;
  const int64_t unreadable = read_metrics(path, [&](const MetricsEvent& event) { reader.take(event); });
  return reader.finish(unreadable);
}

Curve thinned(const Curve& curve, size_t points) {
  if (curve.size() <= points) return curve;
  const size_t together = (curve.size() + points - 1) / points;
  Curve thin;
  for (size_t begin = 0; begin < curve.size(); begin += together) {
    const size_t end = std::min(begin + together, curve.size());
    thin.steps.push_back(curve.steps[end - 1]);
    thin.seconds.push_back(curve.seconds[end - 1]);
    for (const auto& [name, column] : curve.columns) {
      const Spread range = range_of(column, begin, end);
      thin.columns[name].push_back(range.mean);
      thin.columns[name + "_low"].push_back(range.low);
      thin.columns[name + "_high"].push_back(range.high);
    }
  }
  return thin;
}

SampleHistory thinned(const SampleHistory& sample, size_t translations) {
  const size_t all = sample.translations.size();
  if (all <= translations || translations < 2) return sample;
  SampleHistory thin = {.source = sample.source, .reference = sample.reference, .translations = {}};
  for (size_t i = 0; i < translations; ++i) {
    thin.translations.push_back(sample.translations[i * (all - 1) / (translations - 1)]);
  }
  return thin;
}

}  // namespace dragoman::internal
