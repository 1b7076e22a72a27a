// Translations: texts of any length, format and pair of languages in, translations out. Over all models that are
// loaded; through a third language where no model has the pair. What the APIs share.
//
//   const auto translations = open_translations({"models/en-fr", "fr-de=models/other"}, {});
//   translations->translate({.text = "Hello!", .from = "en", .to = "de"}, [](std::future<TextResult> done) { ... });
//
// A text is lines: each is one request to its model, split into sentences unless the options say otherwise, and what
// stands between lines comes back byte for byte. Documents go through translate_document on threads of their own.
// Languages are codes as in BCP 47, "fr", "pt-BR", "zh-Hant", in upper or lower case.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "dragoman/document.h"
#include "dragoman/glossary.h"
#include "dragoman/translator.h"

namespace dragoman::internal {

class ServedLanguages;
struct ServedMemory;
using ServedMemories = std::vector<std::shared_ptr<const ServedMemory>>;

struct TextWork {
  std::string text;         // or a file's bytes
  std::string format = {};  // of a document: "html" or another of document_formats(); empty: lines of text
  std::string name = {};    // of a file, for messages
  std::string from = {},
              to = {};  // codes; from "auto" or empty: detected; to empty: the only one, else an error
  dragoman::Options options = {};  // of each line, as `dragoman translate` has them
  std::string prefix = {};         // how the output begins: texts of one line only
  int alternatives = 0;            // besides the best
  std::string update = {};         // of a model (models/updates.h); empty: the models as they are
  std::shared_ptr<const dragoman::Glossary> glossary = {};
  // A line that one of these has, of those in the languages, has its translation from there; with a similarity below 1
  // also a line to which a segment is so similar. Other lines are translated with the first one's similar segments in
  // view. Documents are translated with the first one alone, texts with a prefix without.
  ServedMemories memories = {};
  double memory_at_least = 1;
  std::chrono::steady_clock::time_point deadline = {};  // none by default
  std::stop_token stop = {};
  std::function<void(const dragoman::Progress&)> on_progress = {};  // of the whole text; not of documents
  uint64_t client = 0;  // work of one client takes turns with that of others
  // Of a document, before it is translated, on a thread that may wait: with the characters in it that are. What it
  // throws ends the work.
  std::function<void(size_t characters)> on_read = {};
  std::shared_ptr<void> room = {};  // by reserve(): held until the work is done
};

struct TextResult {
  std::string text;
  std::vector<std::string> alternatives = {};
  std::vector<dragoman::Translation> lines = {};  // with all that the options asked for; none of documents
  std::string from, to;                           // what it was translated from and to
  double detection = 1;                           // how sure it is of `from`, where that was detected
  std::vector<std::string> via = {};              // languages between
  std::vector<dragoman::MemorySegment> memory =
      {};  // that are lines' translations, or were in view of the search
};

struct ServedPair {
  std::string from, to;
  std::vector<std::string> via = {};
};

struct DetectedLanguage {
  std::string language;
  double confidence;  // 0 to 1
};

// How an adapted model was made that is served in its base's place (models/adapted.h). BLEU is of what was held out.
struct Adaptation {
  struct Bleu {
    double before = 0, after = 0;
  };
  std::string time;  // "2026-01-31T12:00:00Z"
  int64_t segments = 0;
  Bleu of_segments, of_general;
};

struct ServedModel {
  std::string name;  // as it was given, else that of its folder
  std::string folder;
  std::vector<std::string> sources, targets;  // codes: it translates each into each other
  std::shared_ptr<dragoman::Translator> translator;
  std::optional<Adaptation> adaptation = {};
};

// A translator of a direct pair, and what it calls its languages: empty where it has one of each.
struct DirectTranslator {
  std::shared_ptr<dragoman::Translator> translator;
  std::string from, to;
};

// More waits than the settings allow.
class Overloaded : public dragoman::Error {
 public:
  Overloaded(const std::string& message, int seconds) : Error(message), seconds_(seconds) {}
  int seconds() const { return seconds_; }  // after which to ask again

 private:
  int seconds_;
};

// Usage errors (no such language, an option out of range) and Overloaded are thrown at once, all other errors come with
// the future. `on_done` is called once, from any thread, and must return at once.
class Translations {
 public:
  virtual ~Translations() = default;

  // Room for all works of a request, before any of them begins: an Overloaded, or a ServeError of status 413, is thrown
  // where there is none. Work that has none takes it in translate().
  virtual void reserve(std::vector<TextWork>&) {}
  virtual void translate(TextWork work, std::function<void(std::future<TextResult>)> on_done) = 0;
  virtual std::vector<DetectedLanguage> detect(const std::string& text) const = 0;  // the most likely first
  virtual std::vector<ServedPair> pairs()
      const = 0;  // in the order of the models, then those through a third
  virtual std::shared_ptr<const ServedLanguages> languages() const;  // the same by language
  // The translator of a direct pair, for requests to a single model (scores, inspection). It stays valid
  // while it is owned, even if its folder is reloaded. A usage error where there is none.
  virtual DirectTranslator direct(const std::string& from, const std::string& to) const = 0;
  virtual std::vector<ServedModel> models() const { return {}; }
  virtual std::vector<std::string> updates() const { return {}; }
  virtual bool ready() const = 0;  // all models are loaded
  virtual std::optional<Overloaded> overload() const {
    return {};
  }  // what translate() would throw now for any text
  // Soon opens all models' folders anew, beside what is in use: what has begun ends on the old model.
  // What cannot be opened is logged, and the old one stays.
  virtual void reload() {}
};

struct TranslationsSettings {
  dragoman::TranslatorSettings translator = {};  // of each model, but cache_bytes: of all together
  std::chrono::milliseconds watch{5000};  // between looks at the models' folders; 0: only reload() looks
  std::string detector = {};              // a file of fastText: lid.176.ftz
  size_t texts = 4096;                    // that may wait or be under way, all clients' together: capacity.h
  size_t characters = 4 << 20;            // of these together
  int documents = 64;                     // that are translated at once
  // Adapted models are served in their bases' place, where there are some: beside them if it is empty, else in this
  // folder (models/adapted.h).
  std::optional<std::string> adapted = {};
  std::string updates = {};   // a folder of them; empty: none
  size_t loaded_updates = 4;  // that stay loaded
};

// `models`: [NAME=]DIR, where NAME is a pair such as en-fr if the folder does not tell the languages. Returns once all
// are loaded.
std::unique_ptr<Translations> open_translations(const std::vector<std::string>& models,
                                                const TranslationsSettings& settings);

}  // namespace dragoman::internal
