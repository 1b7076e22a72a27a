// ServeMetrics: what the server counts, and its page at /metrics in Prometheus's text format.
//
// Labels take few values: the templates of the routes, not the paths of requests; the pairs of loaded models, up
// to a number.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

struct ServedModel;

// How many values were at most each bound, and their sum.
class Histogram {
 public:
  static constexpr std::array<double, 14> bounds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                                    1,     2.5,  5,     10,   25,  50,   100};
  void add(double value);
  void print(std::string& out, std::string_view name, const std::string& labels) const;  // at least one label

 private:
  std::array<uint64_t, bounds.size() + 1> counts_ = {};
  double sum_ = 0;
};

// A page of metrics in the text format, one family after another.
class MetricsPage {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help);
  // Of the last family. Labels as {{"route", "/translate"}}.
  void value(double value, std::initializer_list<std::pair<std::string_view, std::string_view>> labels = {});
  void histogram(const Histogram& histogram, const std::string& labels);
  std::string take() { return std::move(text_); }

 private:
  std::string text_, name_;
};

class ServeMetrics {
 public:
  void answered(const std::string& route, int status, std::chrono::duration<double> time);
  void translated(const std::string& pair, size_t bytes);

  void print(MetricsPage& page) const;

 private:
  struct Pair {
    uint64_t texts = 0, bytes = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> answers_;  // by route and status
  std::map<std::string, Histogram> times_;                   // by route
  std::map<std::string, Pair> pairs_;
};

// Of each model: its name, or its folder where others have the same name.
std::vector<std::string> labels_of(const std::vector<ServedModel>& models);

// What each model's translator counts.
void print_models(MetricsPage& page, const std::vector<ServedModel>& models);

}  // namespace dragoman::internal
