// The history of a run, read back from its metrics.jsonl: what a report draws.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dragoman::internal {

// The numbers of one kind of event, a column each, all as long as `steps`: NaN stands for missing values.
struct Curve {
  std::vector<int64_t> steps;
  std::vector<double> seconds;  // of training until then, without pauses
  std::map<std::string, std::vector<double>> columns;

  size_t size() const { return steps.size(); }
  // Null if there is no such column.
  const std::vector<double>* column(const std::string& name) const;
};

// Translations of one validation sentence in the course of training, each with the first step that gave it.
struct SampleHistory {
  std::string source, reference;
  std::vector<std::pair<int64_t, std::string>> translations;
};

// A resume, a divergence, or a checkpoint that failed.
struct Mark {
  std::string event, reason;
  int64_t step = 0;
  double seconds = 0;
};

struct History {
  Curve train, validation, epochs;
  std::vector<SampleHistory> samples;
  std::vector<Mark> marks;
  nlohmann::json prepare;  // null if there was none
  int64_t steps = 0, epoch = 0;
  double seconds = 0;
  bool ended = false;
  double done = std::numeric_limits<double>::quiet_NaN();  // fraction of the run; NaN: unknown
  int64_t unreadable = 0;                                  // lines that are not events
};

History read_history(const std::string& path);

// The history of a run that may still train: each update reads only what has come since.
//
// A last line without an end is left for the next time. A file that was cut, as a resumed run's is, is read again.
class GrowingHistory {
 public:
  explicit GrowingHistory(std::string path);
  ~GrowingHistory();
  GrowingHistory(GrowingHistory&&) noexcept;

  bool update();  // whether anything has changed
  const History& history() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The curve with at most this many points, each the mean of neighbours. If it had more, each column NAME is joined by
// NAME_low and NAME_high, the range of the neighbours' finite values, unless it has columns of these names.
Curve downsampled(const Curve& curve, size_t points);

// At most this many of the curve's points as they are, the last one among them.
Curve every_few(const Curve& curve, size_t points);

// At most this many of a sample's translations, the first and the last among them.
SampleHistory downsampled(const SampleHistory& sample, size_t translations);

}  // namespace dragoman::internal
