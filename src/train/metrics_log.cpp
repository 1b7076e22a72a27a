#include "train/metrics_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "base/elapsed.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"

namespace dragoman::internal {
namespace {

// Calls take(line, end, complete) for each line until it returns false. end: the offset after the line; complete: it
// ends with a line feed. A file that somebody has moved away has no lines: training goes on.
template <typename Take>
void for_lines(const std::string& path, const Take& take) {
  std::ifstream file(path, std::ios::binary);
  if (!file && errno == ENOENT) return;
  if (!file) throw Error("cannot open {}: {}", path, std::strerror(errno));
  int64_t end = 0;
  for (std::string line; std::getline(file, line);) {
    end += static_cast<int64_t>(line.size()) + 1;
    if (!take(line, end, !file.eof())) return;
  }
}

// The length of the complete lines among the first keep bytes.
int64_t complete_lines(const std::string& path, int64_t keep) {
  int64_t bytes = 0;
  if (keep <= 0) return 0;
  for_lines(path, [&](const std::string&, int64_t end, bool complete) {
    if (!complete || end > keep) return false;
    bytes = end;
    return true;
  });
  return bytes;
}

}  // namespace

MetricsLog::MetricsLog(const std::string& path, int64_t keep_bytes)
    : path_(path), file_(path, O_WRONLY | O_CREAT | O_APPEND), bytes_(complete_lines(path, keep_bytes)) {
  if (ftruncate(file_.number(), bytes_) != 0)
    throw Error("cannot truncate {}: {}", path, std::strerror(errno));
}

void MetricsLog::cut(int64_t keep_bytes, const std::string& kept_event) {
  if (access(path_.c_str(), F_OK) != 0) return;  // somebody has moved it away, and may want to keep it whole
  bytes_ = complete_lines(path_, keep_bytes);
  std::string kept;
  MetricsEvent event;
  for_lines(path_, [&](const std::string& line, int64_t end, bool complete) {
    if (complete && end > bytes_ && parse_event(line, event) && event.event == kept_event)
      kept += line + "\n";
    return true;
  });
  if (ftruncate(file_.number(), bytes_) != 0) fail("truncate");
  append(kept);
}

void MetricsLog::write(const std::string& event, int64_t step, const nlohmann::ordered_json& values) {
  append(metrics_line(event, step, seconds_since_1970(), values));
}

void MetricsLog::append(const std::string& lines) {
  if (file_.try_to_write_all(lines)) {
    bytes_ += static_cast<int64_t>(lines.size());
    return;
  }
  fail("write");
  // The next line must not follow half a line.
  if (ftruncate(file_.number(), bytes_) != 0) fail("truncate");
}

void MetricsLog::flush() {
  if (fsync(file_.number()) != 0) fail("flush");
}

void MetricsLog::fail(const char* action) {
  if (!warned_) log_warning("cannot {} {}: {}; training continues", action, path_, std::strerror(errno));
  warned_ = true;
}

int64_t metrics_bytes_until(const std::string& path, int64_t step) {
  int64_t bytes = 0;
  MetricsEvent event;
  for_lines(path, [&](const std::string& line, int64_t end, bool complete) {
    if (!complete || (parse_event(line, event) && event.step > step)) return false;
    bytes = end;
    return true;
  });
  return bytes;
}

std::string metrics_line(const std::string& event, int64_t step, double time,
                         const nlohmann::ordered_json& values) {
  // Milliseconds are enough, and easier to read.
  nlohmann::ordered_json line = {{"event", event}, {"step", step}, {"time", std::round(time * 1000) / 1000}};
  nlohmann::ordered_json not_finite;
  for (const auto& [name, value] : values.items()) {
    line[name] = value;
    if (!value.is_number_float() || std::isfinite(value.get<double>())) continue;
    const double number = value.get<double>();
    line[name] = nullptr;
    not_finite[name] = std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
  }
  if (!not_finite.empty()) line["not_finite"] = not_finite;
  // Samples may contain anything: invalid UTF-8 becomes U+FFFD.
  return json_text(line) + "\n";
}

double MetricsEvent::number(const std::string& name) const {
  const auto found = values.find(name);
  if (found != values.end() && found->is_number()) return found->get<double>();
  const auto kinds = values.find("not_finite");
  const std::string kind =
      kinds != values.end() && kinds->is_object() && kinds->contains(name) && (*kinds)[name].is_string()
          ? (*kinds)[name].get<std::string>()
          : "nan";
  const double infinity = std::numeric_limits<double>::infinity();
  return kind == "inf" ? infinity : kind == "-inf" ? -infinity : std::numeric_limits<double>::quiet_NaN();
}

int64_t MetricsEvent::integer(const std::string& name) const {
  const auto found = values.find(name);
  return found != values.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

std::string MetricsEvent::text(const std::string& name) const {
  const auto found = values.find(name);
  return found != values.end() && found->is_string() ? found->get<std::string>() : "";
}

bool parse_event(const std::string& line, MetricsEvent& event) {
  try {
    event.values = parse_json(line);
  } catch (const nlohmann::json::exception&) {
    return false;
  }
  if (!event.values.is_object()) return false;
  event.event = event.text("event");
  event.step = event.integer("step");
  event.time = event.number("time");
  return !event.event.empty();
}

int64_t read_metrics(const std::string& path, const std::function<void(const MetricsEvent&)>& take) {
  if (access(path.c_str(), R_OK) != 0) throw Error("cannot open {}: {}", path, std::strerror(errno));
  int64_t not_events = 0;
  MetricsEvent event;
  for_lines(path, [&](const std::string& line, int64_t, bool) {
    if (parse_event(line, event)) {
      take(event);
    } else if (!line.empty()) {
      ++not_events;
    }
    return true;
  });
  return not_events;
}

}  // namespace dragoman::internal
