#include "report/training_report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "confidence/calibration.h"
#include "report/folder_name.h"
#include "report/numbers.h"
#include "report/page.h"
#include "train/run_checks.h"
#include "train/run_lock.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr size_t max_points = 1000, max_translations = 60;

// More digits than a chart can show would only enlarge the page.
json short_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return with_significant_digits(value, 6);
}

json short_numbers(const std::vector<double>& values) {
  json list = json::array();
  for (const double value : values) list.push_back(short_number(value));
  return list;
}

json curve_json(const Curve& thin) {
  json result = {{"step", thin.steps}, {"seconds", short_numbers(thin.seconds)}};
  for (const auto& [name, column] : thin.columns) result[name] = short_numbers(column);
  return result;
}

// Training's loss without label smoothing, to compare with validation's, and the smoothed one beside it if they differ.
Curve with_unsmoothed_loss(Curve curve) {
  const std::vector<double>* perplexity = curve.column("perplexity");
  const auto loss = curve.columns.find("loss");
  if (perplexity == nullptr || loss == curve.columns.end()) return curve;
  std::vector<double> unsmoothed = *perplexity;
  for (double& value : unsmoothed) value = std::log(value);
  std::vector<double> smoothed = std::exchange(loss->second, unsmoothed);
  const auto differ = [](double a, double b) { return std::abs(a - b) > 1e-6; };
  if (!std::ranges::equal(smoothed, unsmoothed, std::not_fn(differ)))
    curve.columns["smoothed_loss"] = std::move(smoothed);
  return curve;
}

// The best value of a column and its step; null if there is none.
json best(const Curve& curve, const std::string& name, bool greatest) {
  const std::vector<double>* column = curve.column(name);
  json result;
  double record = 0;
  for (size_t i = 0; column && i < column->size(); ++i) {
    const double value = (*column)[i];
    if (!std::isfinite(value) || (!result.is_null() && (greatest ? value <= record : value >= record)))
      continue;
    record = value;
    result = {{"value", short_number(value)}, {"step", curve.steps[i]}};
  }
  return result;
}

json median(const Curve& curve, const std::string& name) {
  const std::vector<double>* column = curve.column(name);
  if (!column) return nullptr;
  std::vector<double> finite;
  std::ranges::copy_if(*column, std::back_inserter(finite),
                       [](double value) { return std::isfinite(value); });
  if (finite.empty()) return nullptr;
  const auto middle = finite.begin() + static_cast<std::ptrdiff_t>(finite.size() / 2);
  std::nth_element(finite.begin(), middle, finite.end());
  return short_number(*middle);
}

// Of training, at the pace of the run so far; null where that is not known.
json seconds_left(const History& history, bool running) {
  if (!running || history.ended || !(history.done > 0)) return nullptr;
  return short_number(history.seconds * (1 - history.done) / history.done);
}

ordered_json summary(const History& history, bool running) {
  return {{"steps", history.steps},
          {"epoch", history.epoch},
          {"seconds", short_number(history.seconds)},
          {"ended", history.ended},
          {"running", running && !history.ended},
          {"seconds_left", seconds_left(history, running)},
          {"tokens_per_second", median(history.train, "tokens_per_second")},
          {"best_loss", best(history.validation, "loss", false)},
          {"best_bleu", best(history.validation, "bleu", true)},
          {"best_chrf", best(history.validation, "chrf", true)},
          {"best_exact_match", best(history.validation, "exact_match", true)},
          {"unreadable", history.unreadable}};
}

json samples_json(const History& history) {
  json result = json::array();
  for (const SampleHistory& whole : history.samples) {
    const SampleHistory sample = downsampled(whole, max_translations);
    result.push_back({{"source", sample.source},
                      {"reference", sample.reference},
                      {"translations", sample.translations},
                      {"left_out", whole.translations.size() - sample.translations.size()}});
  }
  return result;
}

json marks_json(const History& history) {
  json result = json::array();
  for (const Mark& mark : history.marks) {
    result.push_back({{"event", mark.event},
                      {"step", mark.step},
                      {"seconds", short_number(mark.seconds)},
                      {"reason", mark.reason}});
  }
  return result;
}

// Flattens nested objects: values by path, as in "model.d_model".
void flatten(const ordered_json& value, const std::string& path, ordered_json& flat) {
  if (value.is_object()) {
    for (const auto& [name, inner] : value.items())
      flatten(inner, path.empty() ? name : path + "." + name, flat);
  } else {
    flat[path] = value.is_string() ? value.get<std::string>() : json_text(value);
  }
}

// How good the model's calibration is; null where it has none.
ordered_json confidence_of(const std::string& folder) {
  try {
    const std::optional<Calibration> calibration = read_calibration(folder);
    return calibration ? to_json(calibration->quality) : ordered_json();
  } catch (const Error&) {  // damaged: a translator says so
    return nullptr;
  }
}

// The model's config.json; empty if it is missing.
ordered_json configuration_of(const std::string& folder) {
  const std::string path = folder + "/config.json";
  if (!std::filesystem::exists(path)) return ordered_json::object();
  try {
    ordered_json config = parse_json<ordered_json>(read_file(path));
    return config.is_object() ? config : ordered_json::object();
  } catch (const ordered_json::exception&) {
    return ordered_json::object();
  }
}

// Named as in recipes.
ordered_json settings_of(ordered_json config) {
  ordered_json flat = ordered_json::object();
  const ordered_json recipe = config.value("recipe", ordered_json::object());
  config.erase("recipe");
  config.erase("given");
  flatten(config, "", flat);
  flatten(recipe, "", flat);
  return flat;
}

// The defaults of those settings of a recipe that differ from them.
ordered_json defaults_of_changed(const ordered_json& settings) {
  ordered_json defaults = ordered_json::object();
  flatten(recipe_json({}), "", defaults);
  ordered_json changed = ordered_json::object();
  for (const auto& [name, value] : defaults.items()) {
    if (settings.contains(name) && settings[name] != value) changed[name] = value;
  }
  return changed;
}

std::string metrics_of(const std::string& folder) { return folder + "/metrics.jsonl"; }

}  // namespace

ordered_json run_data(const std::string& folder, const std::vector<std::string>& folders,
                      const History& history, bool running) {
  const ordered_json config = configuration_of(folder), settings = settings_of(config);
  return {{"name", folder_name(folder, folders)},
          {"summary", summary(history, running)},
          {"train", curve_json(downsampled(with_unsmoothed_loss(history.train), max_points))},
          {"validation", curve_json(every_few(history.validation, max_points))},
          {"epochs", curve_json(every_few(with_unsmoothed_loss(history.epochs), max_points))},
          {"samples", samples_json(history)},
          {"marks", marks_json(history)},
          {"prepare", history.prepare},
          {"confidence", confidence_of(folder)},
          {"configuration", settings},
          {"given", config.value("given", ordered_json())},  // null: an earlier version trained it
          {"defaults", defaults_of_changed(settings)}};
}

ordered_json report_data(const std::vector<std::string>& folders) {
  ordered_json runs = ordered_json::array();
  for (const std::string& folder : folders) {
    if (!std::filesystem::exists(metrics_of(folder)))
      throw Error("{} has no metrics.jsonl: give the folder of a training run", folder);
    runs.push_back(run_data(folder, folders, read_history(metrics_of(folder)), is_training(folder)));
  }
  return {{"runs", runs}};
}

std::string report_page(const std::vector<std::string>& folders) {
  return page_with_data("report.html",
                        {"palette.css", "dark.css", "base.css", "report.css", "page.js", "differing.js",
                         "numbers.js", "chart.js", "report.js"},
                        report_data(folders));
}

}  // namespace dragoman::internal
