// ServedTranslations: Translations over models of this process.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "serve/models/detector.h"
#include "serve/models/folder_watch.h"
#include "serve/models/models.h"
#include "serve/models/updates.h"
#include "serve/translations.h"
#include "serve/translations/capacity.h"
#include "serve/translations/text_job.h"
#include "serve/translations/worker_pool.h"

namespace dragoman::internal {

class ServedTranslations : public Translations {
 public:
  ServedTranslations(std::vector<std::string> models, const TranslationsSettings& settings);
  ~ServedTranslations() override;  // cancels what is not done, and waits for it

  void reserve(std::vector<TextWork>& works) override { capacity_.reserve(works); }
  void translate(TextWork work, std::function<void(std::future<TextResult>)> on_done) override;
  std::vector<DetectedLanguage> detect(const std::string& text) const override;
  std::vector<ServedPair> pairs() const override;
  std::shared_ptr<const ServedLanguages> languages() const override { return current()->languages(); }
  DirectTranslator direct(const std::string& from, const std::string& to) const override;
  std::vector<ServedModel> models() const override;
  std::vector<std::string> updates() const override { return updates_.names(); }
  bool ready() const override { return true; }
  std::optional<Overloaded> overload() const override { return capacity_.refusal(); }
  void reload() override { watch_.ask(); }

 private:
  std::shared_ptr<const ServedModels> current() const;
  void check_for_changes(bool forced);
  void use(std::vector<OpenModel> models, const std::vector<size_t>& changed);
  void begin(TextWork work, const LanguageRoute& route, TextResult result, OnText on_done);
  void begin_with_update(TextWork work, const LanguageRoute& route, TextResult result, OnText on_done);
  TextResult languages_of(const TextWork& work, const ServedModels& models) const;

  const std::vector<std::string> arguments_;
  const TranslationsSettings settings_;
  std::stop_source end_;
  Capacity capacity_;
  TranslatorReaper translators_;
  Updates updates_;
  mutable std::mutex mutex_;
  std::shared_ptr<const ServedModels> models_;
  std::optional<LanguageDetector> detector_;
  WorkerPool documents_;
  // The watch's own: of each folder at its last check, and when it could not be used.
  std::vector<FolderState> seen_, refused_;
  FolderWatch watch_;
};

}  // namespace dragoman::internal
