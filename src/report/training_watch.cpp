#include "report/training_watch.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/training_report.h"
#include "train/run_lock.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

constexpr size_t max_runs = 8;  // as many as the page has colours

// The runs in a folder, itself included, by name. Training goes on meanwhile: what can no longer be read is left out.
std::vector<std::string> runs_in(const std::string& folder) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  const auto add = [&](const fs::path& run) {
    std::error_code failed;
    const auto changed = fs::last_write_time(run / "metrics.jsonl", failed);
    if (!failed) found.emplace_back(changed, run.string());
  };
  add(folder);
  std::error_code failed;
  for (fs::directory_iterator each(folder, failed), end; !failed && each != end; each.increment(failed)) {
    if (each->is_directory(failed)) add(each->path());
  }
  std::ranges::sort(found, std::greater());
  if (found.size() > max_runs) found.resize(max_runs);
  std::vector<std::string> runs;
  for (auto& [changed, run] : found) runs.push_back(std::move(run));
  std::ranges::sort(runs);
  return runs;
}

}  // namespace

std::optional<nlohmann::ordered_json> TrainingWatch::update() {
  const std::vector<std::string> folders = runs_in(folder_);
  const auto gone = [&](const auto& run) { return std::ranges::find(folders, run.first) == folders.end(); };
  bool changed = std::exchange(first_, false) || std::erase_if(runs_, gone) > 0;
  for (const std::string& folder : folders) {
    const auto [found, added] =
        runs_.try_emplace(folder, Run{.history = GrowingHistory(folder + "/metrics.jsonl")});
    Run& run = found->second;
    const bool was_running = std::exchange(run.running, is_training(folder));
    changed = run.history.update() || run.running != was_running || added || changed;
  }
  if (!changed) return std::nullopt;
  auto runs = nlohmann::ordered_json::array();
  for (const std::string& folder : folders) {
    const Run& run = runs_.at(folder);
    runs.push_back(run_data(folder, folders, run.history.history(), run.running));
  }
  return nlohmann::ordered_json{{"runs", std::move(runs)}};
}

}  // namespace dragoman::internal
