// metrics.jsonl, the history of a training run: one JSON object a line and an event, the single source of every
// curve. `dragoman report` draws it.
//
//   MetricsLog log(folder + "/metrics.jsonl");                 // a new run
//   log.write("train", step, {{"epoch", 1}, {"loss", 4.56}, {"gradient_norm", 1.2}});
//   checkpoint.metrics_bytes = log.bytes();                    // what a checkpoint stores
//
//   MetricsLog log(folder + "/metrics.jsonl", checkpoint.metrics_bytes);   // a resumed run: what came after is cut
//   log.write("resume", step, {});
//
// Every line begins with "event", "step" and "time" (seconds since 1970); the other values stand as they are given.
// JSON has no word for numbers that are none: NaN and infinities are null, and "not_finite": {"loss": "nan"} says
// what they were.
//
// A history that cannot be written stops no training: the failure is warned of once, the line is left out whole,
// and the next one is tried again. For one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

namespace dragoman {

class MetricsLog {
 public:
  // Opens for writing, cut to the whole lines among the first keep_bytes: 0 begins anew. Throws where it cannot.
  explicit MetricsLog(const std::string& path, int64_t keep_bytes = 0);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  // Appends one line and hands it to the system, so that a killed program loses none.
  void write(const std::string& event, int64_t step, const nlohmann::ordered_json& values);

  // The same for a run that goes back: but what came after of this event is kept, and stands behind.
  void cut(int64_t keep_bytes, const std::string& but);

  // The length of the file after the last whole line: what a checkpoint stores.
  int64_t bytes() const { return bytes_; }

  // Waits until the disk has everything: before a checkpoint that relies on bytes().
  void flush();

 private:
  void append(const std::string& lines);
  void fail(const char* action);

  std::string path_;
  int file_;
  int64_t bytes_ = 0;
  bool warned_ = false;
};

// Where the history of the steps up to this one ends, for a checkpoint that stored no number of bytes.
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

  // NaN where there is no such number; what was not finite comes back as it was.
  double number(const std::string& name) const;
  std::string text(const std::string& name) const;  // empty where there is none
};

// Calls for each event, in order. Returns how many lines were no events, a torn last one included.
int64_t read_metrics(const std::string& path, const std::function<void(const MetricsEvent&)>& take);

}  // namespace dragoman
