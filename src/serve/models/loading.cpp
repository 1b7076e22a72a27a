#include "serve/models/loading.h"

#include "serve/route.h"

namespace dragoman::internal {

void LoadingTranslations::set(std::unique_ptr<Translations> loaded) {
  const std::lock_guard lock(mutex_);
  loaded_ = std::move(loaded);
}

void LoadingTranslations::close() {
  std::shared_ptr<Translations> last;
  const std::lock_guard lock(mutex_);
  last.swap(loaded_);
}

std::shared_ptr<Translations> LoadingTranslations::loaded() const {
  const std::lock_guard lock(mutex_);
  return loaded_;
}

std::shared_ptr<Translations> LoadingTranslations::get() const {
  auto translations = loaded();
  if (!translations)
    throw ServeError(503, "the server is loading its models: try again", {{"retry-after", "2"}});
  return translations;
}

void LoadingTranslations::reserve(std::vector<TextWork>& works) { get()->reserve(works); }

void LoadingTranslations::translate(TextWork work, std::function<void(std::future<TextResult>)> on_done) {
  const size_t bytes = work.text.size();
  get()->translate(std::move(work),
                   [this, bytes, on_done = std::move(on_done)](std::future<TextResult> done) {
                     std::promise<TextResult> counted;
                     try {
                       TextResult result = done.get();
                       metrics_.translated(result.from + "-" + result.to, bytes);
                       counted.set_value(std::move(result));
                     } catch (...) {
                       counted.set_exception(std::current_exception());
                     }
                     on_done(counted.get_future());
                   });
}

std::vector<DetectedLanguage> LoadingTranslations::detect(const std::string& text) const {
  return get()->detect(text);
}

std::vector<ServedPair> LoadingTranslations::pairs() const { return get()->pairs(); }

std::shared_ptr<const ServedLanguages> LoadingTranslations::languages() const { return get()->languages(); }

DirectTranslator LoadingTranslations::direct(const std::string& from, const std::string& to) const {
  return get()->direct(from, to);
}

std::vector<ServedModel> LoadingTranslations::models() const { return get()->models(); }

std::vector<std::string> LoadingTranslations::updates() const { return get()->updates(); }

bool LoadingTranslations::ready() const {
  const auto translations = loaded();
  return translations && translations->ready();
}

std::optional<Overloaded> LoadingTranslations::overload() const {
  const auto translations = loaded();
  return translations ? translations->overload() : std::nullopt;
}

void LoadingTranslations::reload() {
  if (const auto translations = loaded()) translations->reload();
}

}  // namespace dragoman::internal
