// ServedModels: those that are served, the pairs of languages that they translate, and the way from one language to
// another through a third.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/models/folder_watch.h"
#include "serve/models/languages.h"
#include "serve/models/served_languages.h"
#include "serve/models/translator_reaper.h"
#include "serve/translations.h"

namespace dragoman::internal {

// One step of the way from a language to another.
struct RouteStep {
  DirectTranslator model;
  std::string folder;    // the model's
  std::string from, to;  // codes
  int64_t beam = 0;      // the model's own
};
using LanguageRoute = std::vector<RouteStep>;  // none: from a language to itself

// A folder with its translator, opened.
struct OpenModel {
  ServedModel served;
  std::map<std::string, std::string> sources, targets;  // from codes to the model's own names
  int64_t beam = 0;
  FolderState state = {};  // of all that it could be opened from, when it was
};

// `argument`: [NAME=]DIR. `adapted`: as TranslationsSettings has it. An adapted model that cannot be served is logged.
OpenModel open_model(const std::string& argument, const dragoman::TranslatorSettings& settings,
                     TranslatorReaper& reaper, const std::optional<std::string>& adapted = {});

class ServedModels {
 public:
  // An Error where two models have the same pair.
  explicit ServedModels(std::vector<OpenModel> models);

  const std::vector<OpenModel>& all() const { return models_; }
  const std::vector<ServedPair>& pairs() const { return pairs_; }
  const std::shared_ptr<const ServedLanguages>& languages() const { return languages_; }
  const std::vector<std::string>& sources() const { return sources_; }  // in the order of the models
  // The code among those that are loaded, as ServedLanguages::find has it. An Error if none fits.
  void require_pairs() const;  // throws a usage error where all models are language models
  std::string known_source(const std::string& language) const;
  std::string known_target(const std::string& language, const std::string& from) const;
  LanguageRoute route(const std::string& from, const std::string& to) const;

 private:
  RouteStep step(const LanguagePair& pair) const;
  void find_pivots();

  std::vector<OpenModel> models_;
  std::map<LanguagePair, size_t> direct_;        // the model's number
  std::map<LanguagePair, std::string> through_;  // the third language
  std::vector<ServedPair> pairs_;
  std::vector<std::string> sources_;
  std::shared_ptr<const ServedLanguages> languages_;
};

}  // namespace dragoman::internal
