// Curves of training runs, from their histories.
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "report/figures.h"
#include "report/folder_name.h"
#include "train/history.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_points = 200;

const Curve& curve_of(const History& history, RunEvent event) {
  switch (event) {
    case RunEvent::train:
      return history.train;
    case RunEvent::validation:
      return history.validation;
    case RunEvent::epoch:
      return history.epochs;
  }
  return history.validation;
}

double place_of(const Curve& curve, size_t i, RunAxis x) {
  return x == RunAxis::minutes ? curve.seconds[i] / 60 : static_cast<double>(curve.steps[i]);
}

[[noreturn]] void throw_unknown(const std::string& metric, const Curve& curve, const std::string& folder) {
  std::string known;
  for (const auto& [name, values] : curve.columns) known += (known.empty() ? "" : ", ") + name;
  if (known.empty()) throw OptionError("event", fmt::format("names nothing that {} has logged", folder));
  throw OptionError("metric", fmt::format("is {}, but {} has logged {}", metric, folder, known));
}

ChartCurve run_curve(const std::string& folder, const RunCurves& options) {
  const History history = read_history(folder + "/metrics.jsonl");
  const Curve& all = curve_of(history, options.event);
  if (all.column(options.metric) == nullptr) throw_unknown(options.metric, all, folder);
  const Curve curve = downsampled(all, max_points);
  const std::vector<double>& values = *curve.column(options.metric);
  ChartCurve result = {.name = folder_name(folder, options.runs), .points = {}};
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) result.points.push_back({place_of(curve, i, options.x), values[i]});
  }
  if (result.points.empty())
    throw OptionError("metric",
                      fmt::format("is {}, of which {} has logged no number", options.metric, folder));
  return result;
}

}  // namespace

void declare(Section& own, RunCurves& options) {
  own.add("runs", options.runs, "folders of models, a curve each");
  own.add("event", options.event, "when values were logged",
          {{"train", RunEvent::train}, {"validation", RunEvent::validation}, {"epoch", RunEvent::epoch}});
  own.add("metric", options.metric, "what was logged then: loss, perplexity, bleu, chrf ...");
  own.add("x", options.x, "what it is drawn against",
          {{"updates", RunAxis::updates}, {"minutes", RunAxis::minutes}});
}

LineChart chart(const RunCurves& options) {
  if (options.runs.empty()) throw OptionError("runs", "is empty: name at least one model's folder");
  const char* of = options.event == RunEvent::validation ? "Validation" : "Training";
  LineChart chart = {.title = fmt::format("{} {}", of, options.metric),
                     .x_title = options.x == RunAxis::minutes ? "minutes" : "updates",
                     .y_title = options.metric,
                     .curves = {}};
  for (const std::string& folder : options.runs) chart.curves.push_back(run_curve(folder, options));
  return chart;
}

}  // namespace dragoman::internal
