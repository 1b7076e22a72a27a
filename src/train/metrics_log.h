// metrics.jsonl, the history of a training run: one event per line as a JSON object, from which `dragoman report` draws
// all curves.
//
//   MetricsLog log(folder + "/metrics.jsonl");                 // a new run
//   log.write("train", step, {{"epoch", 1}, {"loss", 4.56}, {"gradient_norm", 1.2}});
//   checkpoint.metrics_bytes = log.bytes();                    // what a checkpoint stores
//
//   MetricsLog log(folder + "/metrics.jsonl", checkpoint.metrics_bytes);   // a resumed run: later events are cut off
//   log.write("resume", step, {});
//
// Every line begins with "event", "step" and "time" (seconds since 1970), and then has the given values. JSON cannot
// express NaN and infinity: they are null, and "not_finite": {"loss": "nan"} tells which.
//
// A failure to write does not stop training: it is reported once, the line is omitted, and the next one is tried again.
// For one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/descriptor.h"

namespace dragoman::internal {

class MetricsLog {
 public:
  // Opens for writing, truncated to the complete lines among the first keep_bytes; 0: empty. Throws if it cannot.
  explicit MetricsLog(const std::string& path, int64_t keep_bytes = 0);

  // Appends one line and passes it to the system, so that a killed program loses none.
  void write(const std::string& event, int64_t step, const nlohmann::ordered_json& values);

  // Truncates likewise after a rollback, but keeps the later events of this kind.
  void cut(int64_t keep_bytes, const std::string& kept_event);

  // The length of the file, in complete lines: what a checkpoint stores.
  int64_t bytes() const { return bytes_; }

  // Waits until everything is on the disk: before a checkpoint that relies on bytes().
  void flush();

 private:
  void append(const std::string& lines);
  void fail(const char* action);

  std::string path_;
  Descriptor file_;
  int64_t bytes_ = 0;
  bool warned_ = false;
};

// Where the events of the steps up to this one end.
int64_t metrics_bytes_until(const std::string& path, int64_t step);

// What write() appends for one event, its line feed included.
std::string metrics_line(const std::string& event, int64_t step, double time,
                         const nlohmann::ordered_json& values);

// One line, read back.
struct MetricsEvent {
  std::string event;
  int64_t step = 0;
  double time = 0;
  nlohmann::json values;  // the whole object

  // NaN if there is no such number; infinities are restored.
  double number(const std::string& name) const;
  int64_t integer(const std::string& name) const;   // 0 if there is none
  std::string text(const std::string& name) const;  // empty if there is none
};

// The event of a line, or false if there is none.
bool parse_event(const std::string& line, MetricsEvent& event);

// Calls `take` for each event, in order. Returns the number of lines that are not events, such as a torn last one.
int64_t read_metrics(const std::string& path, const std::function<void(const MetricsEvent&)>& take);

}  // namespace dragoman::internal
