#include "serve/models/updates.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/quotes.h"
#include "model/folder.h"
#include "model/weights_file.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

bool is_folder_name(const std::string& name) {
  return !name.empty() && !name.starts_with('.') && name.find('/') == name.npos &&
         name.find('\0') == name.npos;
}

}  // namespace

Updates::Updates(std::string folder, size_t loaded, const dragoman::TranslatorSettings& settings,
                 TranslatorReaper& reaper)
    : folder_(std::move(folder)), most_(loaded), settings_(settings), reaper_(reaper) {
  if (!folder_.empty() && !fs::is_directory(folder_))
    throw UsageError("--updates {}: there is no such folder", folder_);
}

std::vector<std::string> Updates::names() const {
  std::vector<std::string> names;
  if (folder_.empty()) return names;
  std::error_code none;
  for (const std::string& path : entries_of(folder_))
    if (fs::exists(weights_path(path), none)) names.push_back(fs::path(path).filename().string());
  std::ranges::sort(names);
  return names;
}

void Updates::require(const std::string& name) const {
  if (folder_.empty()) throw UsageError("this server has no updates (serve --updates DIR)");
  std::error_code none;
  if (!is_folder_name(name) || !fs::exists(weights_path(folder_of(name)), none))
    throw UsageError("there is no update {}", in_quotes(name));
}

LanguageRoute Updates::route_with(const std::string& name, LanguageRoute route) {
  const Loaded update = get(name);
  std::error_code none;
  const auto step = std::ranges::find_if(
      route, [&](const RouteStep& one) { return fs::equivalent(one.folder, update.base, none); });
  if (step == route.end())
    throw UsageError("the update {} is of another model than translates from {} to {}", in_quotes(name),
                     route.front().from, route.back().to);
  step->model.translator = update.translator;
  return route;
}

std::optional<Updates::Loaded> Updates::known(const std::string& name) {
  std::optional<Loaded> update;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(loaded_, name, &Loaded::name);
    if (found == loaded_.end()) return std::nullopt;
    loaded_.splice(loaded_.begin(), loaded_, found);
    update = loaded_.front();
  }
  // A folder may be slow to answer: nobody waits for the lock meanwhile.
  if (update->state != state_of_all({folder_of(name), update->base})) return std::nullopt;
  return update;
}

Updates::Loaded Updates::get(const std::string& name) {
  if (auto update = known(name)) return *std::move(update);
  const std::lock_guard one_at_a_time(loading_);
  if (auto update = known(name)) return *std::move(update);
  Loaded update = load(name);
  const std::lock_guard lock(mutex_);
  std::erase_if(loaded_, [&](const Loaded& one) { return one.name == name; });
  loaded_.push_front(update);
  if (loaded_.size() > most_) loaded_.pop_back();
  return update;
}

Updates::Loaded Updates::load(const std::string& name) {
  const std::string folder = folder_of(name);
  const std::string base = WeightsFile(existing_weights(folder)).base();
  if (base.empty())
    throw UsageError("{} is a whole model, not an update of another: serve it with --model", in_quotes(name));
  Loaded update = {.name = name,
                   .base = base,
                   .state = state_of_all({folder, base}),
                   .translator = reaper_.adopt(std::make_unique<dragoman::Translator>(folder, settings_))};
  log_info("the update {} is loaded", folder);
  return update;
}

}  // namespace dragoman::internal
