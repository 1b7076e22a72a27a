// LoadingTranslations: Translations whose models are still loading. The server listens while its models load.
#pragma once

#include <memory>
#include <mutex>

#include "serve/operation/metrics.h"
#include "serve/translations.h"

namespace dragoman::internal {

// Until set() everything but ready() throws a ServeError of status 503. Counts what is translated.
class LoadingTranslations : public Translations {
 public:
  explicit LoadingTranslations(ServeMetrics& metrics) : metrics_(metrics) {}

  void set(std::unique_ptr<Translations> loaded);
  void close();  // cancels what is not done, and waits for it

  void reserve(std::vector<TextWork>& works) override;
  void translate(TextWork work, std::function<void(std::future<TextResult>)> on_done) override;
  std::vector<DetectedLanguage> detect(const std::string& text) const override;
  std::vector<ServedPair> pairs() const override;
  std::shared_ptr<const ServedLanguages> languages() const override;
  DirectTranslator direct(const std::string& from, const std::string& to) const override;
  std::vector<ServedModel> models() const override;
  std::vector<std::string> updates() const override;
  bool ready() const override;
  std::optional<Overloaded> overload() const override;
  void reload() override;

 private:
  std::shared_ptr<Translations> loaded() const;  // null: not yet
  std::shared_ptr<Translations> get() const;

  ServeMetrics& metrics_;
  mutable std::mutex mutex_;
  std::shared_ptr<Translations> loaded_;
};

}  // namespace dragoman::internal
