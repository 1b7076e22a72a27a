// The history of a run, read back from its metrics.jsonl: what a report draws.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dragoman {

// The numbers of one kind of event, a column each; all columns are as long as steps, with NaN where an event had none.
struct Curve {
  std::vector<int64_t> steps;
  std::vector<double> seconds;  // of training until then, pauses left out
  std::map<std::string, std::vector<double>> columns;

  size_t size() const { return steps.size(); }
  // Null where there is no such column.
  const std::vector<double>* column(const std::string& name) const;
};

// How one validation sentence was translated as the model learnt; a translation stands at the step that first gave it.
struct SampleHistory {
  std::string source, reference;
  std::vector<std::pair<int64_t, std::string>> translations;
};

// Something that happened: "resume", "divergence", "checkpoint" that failed.
struct Mark {
  std::string event, reason;
  int64_t step = 0;
  double seconds = 0;
};

struct History {
  Curve train, validation;
  std::vector<SampleHistory> samples;
  std::vector<Mark> marks;
  nlohmann::json prepare;  // null where there was none
  int64_t steps = 0, epoch = 0;
  double seconds = 0;
  bool ended = false;
  int64_t unreadable = 0;  // lines that were no events
};

History read_history(const std::string& path);

// The same curve with at most so many points, each the mean of neighbours. Where it had more, every column NAME gets
// the columns NAME_low and NAME_high beside it, between which the neighbours' finite values lay.
Curve thinned(const Curve& curve, size_t points);

// At most so many of a sample's translations, the first and the last among them.
SampleHistory thinned(const SampleHistory& sample, size_t translations);

}  // namespace dragoman
