#include "train/history.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

#include "train/metrics_log.h"

namespace dragoman::internal {
namespace {

constexpr size_t most_columns = 100;  // of a curve; further ones are left out
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// Where the run is, not how well it does.
bool is_progress(const std::string& name) {
  return name == "step" || name == "time" || name == "seconds" || name == "done";
}

class Reader {
 public:
  void take(const MetricsEvent& event) {
    update_time(event);
    // A divergence stays in the log when the run goes back behind it.
    if (event.event != "divergence") history_.steps = std::max(history_.steps, event.step);
    history_.epoch = std::max(history_.epoch, event.integer("epoch"));
    history_.ended = event.event == "end";
    if (event.event == "train") history_.done = event.number("done");
    if (event.event == "train") add(history_.train, event);
    if (event.event == "validation") add(history_.validation, event);
    if (event.event == "epoch") add(history_.epochs, event);
    if (event.event == "sample") add_sample(event);
    if (event.event == "prepare") history_.prepare = event.values;
    if (event.event == "resume" || event.event == "divergence" || event.values.contains("failed"))
      add_mark(event);
  }

  void add_unreadable(int64_t lines) { history_.unreadable += lines; }
  const History& history() const { return history_; }

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
    history_.seconds = seconds_;
    if (std::isfinite(event.time)) last_time_ = event.time;
  }

  void add(Curve& curve, const MetricsEvent& event) {
    for (const auto& [name, value] : event.values.items()) {
      if ((value.is_number() || value.is_null()) && !is_progress(name) &&
          (curve.columns.size() < most_columns || curve.columns.contains(name))) {
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
struct MeanAndRange {
  double mean = missing, low = missing, high = missing;
};

MeanAndRange range_of(const std::vector<double>& values, size_t begin, size_t end) {
  MeanAndRange range;
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
  reader.add_unreadable(read_metrics(path, [&](const MetricsEvent& event) { reader.take(event); }));
  return reader.history();
}

struct GrowingHistory::State {
  std::string path;
  Reader reader = {};
  std::streamoff read = 0;  // bytes, in complete lines
  std::string last = {};    // the last of these lines: if it differs, the file was replaced

  bool continues(std::ifstream& file) const {
    std::string found(last.size(), '\0');
    file.seekg(read - static_cast<std::streamoff>(last.size()));
    file.read(found.data(), static_cast<std::streamsize>(found.size()));
    return file.good() && found == last;
  }

  void take(std::string line) {
    MetricsEvent event;
    last = std::move(line);
    read += static_cast<std::streamoff>(last.size());
    const std::string text = last.substr(0, last.size() - 1);
    if (parse_event(text, event)) {
      reader.take(event);
    } else if (!text.empty()) {
      reader.add_unreadable(1);
    }
  }
};

GrowingHistory::GrowingHistory(std::string path) : state_(new State{.path = std::move(path)}) {}
GrowingHistory::~GrowingHistory() = default;
GrowingHistory::GrowingHistory(GrowingHistory&&) noexcept = default;

const History& GrowingHistory::history() const { return state_->reader.history(); }

bool GrowingHistory::update() {
  std::ifstream file(state_->path, std::ios::binary);
  if (!file) return false;
  const bool another = !state_->continues(file);
  if (another) *state_ = {.path = std::move(state_->path)};
  file.clear();
  file.seekg(state_->read);
  const std::streamoff before = state_->read;
  for (std::string line; std::getline(file, line) && !file.eof();) state_->take(line + '\n');
  return another || state_->read > before;
}

Curve downsampled(const Curve& curve, size_t points) {
  if (curve.size() <= points) return curve;
  const size_t together = (curve.size() + points - 1) / points;
  Curve thin;
  for (size_t begin = 0; begin < curve.size(); begin += together) {
    const size_t end = std::min(begin + together, curve.size());
    thin.steps.push_back(curve.steps[end - 1]);
    thin.seconds.push_back(curve.seconds[end - 1]);
    for (const auto& [name, column] : curve.columns) {
      const MeanAndRange range = range_of(column, begin, end);
      thin.columns[name].push_back(range.mean);
      if (!curve.columns.contains(name + "_low")) thin.columns[name + "_low"].push_back(range.low);
      if (!curve.columns.contains(name + "_high")) thin.columns[name + "_high"].push_back(range.high);
    }
  }
  return thin;
}

Curve every_few(const Curve& curve, size_t points) {
  if (curve.size() <= points) return curve;
  const size_t step = (curve.size() + points - 1) / points;
  Curve thin;
  for (size_t i = (curve.size() - 1) % step; i < curve.size(); i += step) {
    thin.steps.push_back(curve.steps[i]);
    thin.seconds.push_back(curve.seconds[i]);
    for (const auto& [name, column] : curve.columns) thin.columns[name].push_back(column[i]);
  }
  return thin;
}

SampleHistory downsampled(const SampleHistory& sample, size_t translations) {
  const size_t all = sample.translations.size();
  if (all <= translations || translations < 2) return sample;
  SampleHistory thin = {.source = sample.source, .reference = sample.reference, .translations = {}};
  for (size_t i = 0; i < translations; ++i) {
    thin.translations.push_back(sample.translations[i * (all - 1) / (translations - 1)]);
  }
  return thin;
}

}  // namespace dragoman::internal
