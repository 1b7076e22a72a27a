#include "serve/translations/served.h"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/log.h"
#include "serve/models/adapted.h"
#include "serve/translations/document.h"
#include "serve/translations/text_job.h"

namespace dragoman::internal {
namespace {

TranslationsSettings with_caches(TranslationsSettings settings, size_t models) {
  const size_t updates = settings.updates.empty() ? 0 : settings.loaded_updates;
  settings.translator.cache_bytes /= std::max<size_t>(models + updates, 1);
  return settings;
}

std::shared_ptr<const ServedModels> open_all(const std::vector<std::string>& arguments,
                                             const TranslationsSettings& settings, TranslatorReaper& reaper) {
  if (arguments.empty()) throw UsageError("a server needs at least one model");
  std::vector<OpenModel> models;
  for (const std::string& argument : arguments)
    models.push_back(open_model(argument, settings.translator, reaper, settings.adapted));
  return std::make_shared<const ServedModels>(std::move(models));
}

std::optional<LanguageDetector> open_detector(const std::string& file) {
  return file.empty() ? std::nullopt : std::optional<LanguageDetector>(std::in_place, file);
}

// Without it, loading a model is not worthwhile.
void require_time(const TextWork& work, const std::stop_token& end) {
  time_left(work.deadline);
  if (work.stop.stop_requested() || end.stop_requested())
    throw dragoman::Error("the translation was cancelled before it was done", ErrorKind::cancelled);
}

}  // namespace

ServedTranslations::ServedTranslations(std::vector<std::string> models, const TranslationsSettings& settings)
    : arguments_(std::move(models)),
      settings_(with_caches(settings, arguments_.size())),
      capacity_(settings.texts, settings.characters),
      updates_(settings_.updates, settings_.loaded_updates, settings_.translator, translators_),
      models_(open_all(arguments_, settings_, translators_)),
      detector_(open_detector(settings.detector)),
      documents_(settings.documents),
      seen_(arguments_.size()),
      refused_(arguments_.size()),
      watch_(settings.watch, [this](bool forced) { check_for_changes(forced); }) {}

ServedTranslations::~ServedTranslations() { end_.request_stop(); }

std::shared_ptr<const ServedModels> ServedTranslations::current() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

// A folder that is being written is left alone until two checks have found it the same, and one that could not be used
// until it changes again. `forced`: all models are loaded again.
void ServedTranslations::check_for_changes(bool forced) {
  std::vector<OpenModel> all = current()->all();
  std::vector<size_t> changed;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string folder = all[i].served.folder;
    const FolderState now = state_of_both(folder, settings_.adapted);
    const bool settled = std::exchange(seen_[i], now) == now;
    if (!forced && (now == all[i].state || !settled || now == refused_[i])) continue;
    try {
      dragoman::TranslatorSettings settings = settings_.translator;
      settings.batch = all[i].served.translator->info().batch;  // memory is full of the old one's
      all[i] = open_model(arguments_[i], settings, translators_, settings_.adapted);
      changed.push_back(i);
    } catch (const std::exception& error) {
      refused_[i] = now;
      log_warning("{} cannot be loaded again, so the old model stays in use: {}", folder, error.what());
    }
  }
  if (!changed.empty()) use(std::move(all), changed);
}

void ServedTranslations::use(std::vector<OpenModel> models, const std::vector<size_t>& changed) {
  std::vector<std::string> folders;
  for (const size_t i : changed) {
    folders.push_back(models[i].served.folder);
    refused_[i] = models[i].state;  // unless they can be used, which makes it the present one
  }
  try {
    auto all = std::make_shared<const ServedModels>(std::move(models));
    const std::lock_guard lock(mutex_);
    models_.swap(all);
  } catch (const std::exception& error) {
    return log_warning("{}: loaded again, but the old models stay in use: {}", fmt::join(folders, ", "),
                       error.what());
  }
  for (const std::string& folder : folders) log_info("{} was loaded again", folder);
}

TextResult ServedTranslations::languages_of(const TextWork& work, const ServedModels& models) const {
  models.require_pairs();
  TextResult result;
  if (!work.from.empty() && work.from != "auto") {
    result.from = models.known_source(work.from);
  } else {
    const bool read = !work.format.empty() && detector_;
    const DetectedLanguage detected = detect(read ? text_of_document(work) : work.text).front();
    result.from = detected.language;
    result.detection = detected.confidence;
  }
  result.to = models.known_target(work.to, result.from);
  return result;
}

void ServedTranslations::translate(TextWork work, std::function<void(std::future<TextResult>)> on_done) {
  if (!work.update.empty()) updates_.require(work.update);
  const std::shared_ptr<const ServedModels> models = current();
  TextResult result = languages_of(work, *models);
  const LanguageRoute route = models->route(result.from, result.to);
  if (work.client == 0) work.client = dragoman::Translator::new_client();
  for (size_t i = 1; i < route.size(); ++i) result.via.push_back(route[i].from);
  if (!work.room) work.room = capacity_.take(work);
  const auto done = [room = std::move(work.room),
                     on_done = std::move(on_done)](std::future<TextResult> future) mutable {
    room.reset();
    on_done(std::move(future));
  };
  if (!work.update.empty() && !route.empty())
    return begin_with_update(std::move(work), route, std::move(result), done);
  begin(std::move(work), route, std::move(result), done);
}

void ServedTranslations::begin(TextWork work, const LanguageRoute& route, TextResult result, OnText done) {
  if (work.format.empty() || route.empty())
    return start_text(std::move(work), route, std::move(result), end_.get_token(), std::move(done));
  check_document(work, route);
  const uint64_t client = work.client;
  documents_.run(
      [this, work = std::move(work), route, result = std::move(result), done]() mutable {
        translate_document(work, route, std::move(result), end_.get_token(), done);
      },
      client);
}

// On a thread that may wait until the update is loaded.
void ServedTranslations::begin_with_update(TextWork work, const LanguageRoute& route, TextResult result,
                                           OnText done) {
  const uint64_t client = work.client;
  documents_.run(
      [this, work = std::move(work), route, result = std::move(result), done = std::move(done)]() mutable {
        try {
          require_time(work, end_.get_token());
          const LanguageRoute with_update = updates_.route_with(work.update, route);
          begin(std::move(work), with_update, std::move(result), done);
        } catch (...) {
          std::promise<TextResult> failed;
          failed.set_exception(std::current_exception());
          done(failed.get_future());
        }
      },
      client);
}

std::vector<DetectedLanguage> ServedTranslations::detect(const std::string& text) const {
  const std::vector<std::string> sources = current()->sources();
  if (detector_) return detector_->detect(text, sources);
  if (sources.size() == 1) return {{sources.front(), 0}};
  throw UsageError(
      "languages cannot be detected: name the source language, or start the server with --detector FILE");
}

std::vector<ServedPair> ServedTranslations::pairs() const { return current()->pairs(); }

DirectTranslator ServedTranslations::direct(const std::string& from, const std::string& to) const {
  const std::shared_ptr<const ServedModels> models = current();
  const std::string source = models->known_source(from);
  const std::string target = models->known_target(to, source);
  const LanguageRoute route = models->route(source, target);
  if (route.size() != 1) throw UsageError("no model translates directly from {} to {}", source, target);
  return route.front().model;
}

std::vector<ServedModel> ServedTranslations::models() const {
  std::vector<ServedModel> all;
  for (const OpenModel& model : current()->all()) all.push_back(model.served);
  return all;
}

std::unique_ptr<Translations> open_translations(const std::vector<std::string>& models,
                                                const TranslationsSettings& settings) {
  return std::make_unique<ServedTranslations>(models, settings);
}

}  // namespace dragoman::internal
