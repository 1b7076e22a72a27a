#include "serve/adapting/adapter.h"

#include <cmath>
#include <exception>

#include <fmt/format.h>

#include "base/log.h"
#include "base/threads.h"
#include "serve/json_log.h"

namespace dragoman::internal {
namespace {

// What the log says of adapting: as a line of text, or with its figures as an object like those of requests.
void log_adapting(const ServeSettings& settings, LogLevel level, const std::string& message,
                  const nlohmann::ordered_json& figures) {
  if (!is_logged(level)) return;
  if (settings.log != RequestLogFormat::json) return log_line(level, message);
  nlohmann::ordered_json line = {
      {"time", time_now()}, {"level", level == LogLevel::warning ? "warning" : "info"}, {"message", message}};
  line.update(figures);
  print_json_line(line);
}

}  // namespace

Adapter::Adapter(const ServeSettings& settings, std::string program)
    : settings_(settings), program_(std::move(program)) {}

Adapter::~Adapter() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void Adapter::start(std::vector<AdaptJob> jobs) {
  for (AdaptJob& job : jobs) jobs_.push_back({std::move(job)});
  if (!jobs_.empty()) thread_ = start_thread([this] { work(); });
}

void Adapter::work() {
  const std::chrono::duration<double, std::ratio<3600>> period(settings_.adapt_every);
  const std::stop_token stop = stop_.get_token();
  while (!stop.stop_requested()) {
    for (Job& job : jobs_) adapt(job);
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, period, [] { return false; });
  }
}

// A server that begins does not know what was done before: the command finds that out.
void Adapter::adapt(Job& job) {
  if (stop_.stop_requested()) return;
  FolderState inputs = inputs_of(job.what);
  if (inputs == job.settled) return;
  const auto begin = std::chrono::steady_clock::now();
  AdaptOutcome outcome;
  try {
    outcome = run(job.what);
  } catch (const std::exception& error) {
    outcome = {"failed",
               fmt::format("adapting {} failed, and is tried again: {}", job.what.base, error.what())};
  }
  if (outcome.is_settled()) job.settled = std::move(inputs);
  note(job.what, outcome, std::chrono::steady_clock::now() - begin);
}

// Each line of the command is passed on once the next one comes: the last one may say why it failed. Of its training
// there would be a line for each epoch.
AdaptOutcome Adapter::run(const AdaptJob& job) {
  {
    const std::lock_guard lock(mutex_);
    running_ = true;
  }
  log_adapting(settings_, LogLevel::info, fmt::format("adapting {} begins", job.base),
               {{"adapting", job.base}, {"event", "begins"}});
  std::string last;
  const auto on_line = [&](std::string_view line) {
    if (!last.empty() && !last.starts_with("epoch ")) log_info("adapting {}: {}", job.base, last);
    last = line;
  };
  const ProgramEnd end =
      run_in_background(adapt_command(program_, job, settings_), stop_.get_token(), on_line);
  return outcome_of(job.base, end, last, stop_.stop_requested());
}

void Adapter::note(const AdaptJob& job, const AdaptOutcome& outcome, std::chrono::duration<double> time) {
  nlohmann::ordered_json figures = {
      {"adapting", job.base}, {"event", outcome.name}, {"seconds", std::round(10 * time.count()) / 10}};
  if (outcome.figures.is_object()) figures.update(outcome.figures);
  const bool is_fault = outcome.name == "failed" || outcome.name == "refused";
  log_adapting(settings_, is_fault ? LogLevel::warning : LogLevel::info, outcome.message, figures);
  const std::lock_guard lock(mutex_);
  running_ = false;
  ++counts_[{job.label, outcome.name}];
}

void Adapter::print(MetricsPage& page) const {
  if (settings_.adapt_every == 0) return;
  const std::lock_guard lock(mutex_);
  page.family("dragoman_adapting", "gauge", "Models that are being adapted.");
  page.value(running_ ? 1 : 0);
  page.family("dragoman_adaptations_total", "counter", "Models adapted or tried to, by what came of it.");
  for (const auto& [key, count] : counts_)
    page.value(static_cast<double>(count), {{"model", key.first}, {"outcome", key.second}});
}

}  // namespace dragoman::internal
