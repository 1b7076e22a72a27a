#include "serve/metrics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dragoman::internal {
namespace {

constexpr size_t max_pairs = 200;  // with counts of their own: a model of 200 languages has 39,800

std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text;
}

std::string label(std::string_view name, std::string_view value) {
  return fmt::format("{}=\"{}\"", name, escaped(value));
}

}  // namespace

void Histogram::add(double value) {
  ++counts_[static_cast<size_t>(std::ranges::lower_bound(bounds, value) - bounds.begin())];
  sum_ += value;
}

void Histogram::print(std::string& out, std::string_view name, const std::string& labels) const {
  uint64_t count = 0;
  const std::string comma = labels.empty() ? "" : labels + ",";
  for (size_t i = 0; i < counts_.size(); ++i) {
    count += counts_[i];
    const std::string bound = i < bounds.size() ? fmt::format("{}", bounds[i]) : "+Inf";
    out += fmt::format("{}_bucket{{{}le=\"{}\"}} {}\n", name, comma, bound, count);
  }
  const std::string braces = labels.empty() ? "" : "{" + labels + "}";
  out += fmt::format("{0}_sum{1} {2}\n{0}_count{1} {3}\n", name, braces, sum_, count);
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

}  // namespace dragoman::internal
