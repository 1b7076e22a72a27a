// What the routes of DeepL's API share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "serve/context.h"
#include "serve/deepl/glossary_store.h"
#include "serve/documents/jobs.h"
#include "serve/models/served_languages.h"
#include "serve/requests/fields.h"
#include "serve/settings.h"
#include "serve/translations.h"

namespace dragoman::internal {

// The characters that each client has had translated since the server started.
class CharacterUsage {
 public:
  void add(const std::string& client, size_t characters);
  uint64_t of(const std::string& client) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> characters_;
};

struct DeepL : std::enable_shared_from_this<DeepL> {
  explicit DeepL(ServeContext& c) : context(c), glossaries(c.settings.glossaries), documents(c.files) {}

  ServeContext& context;
  GlossaryStore glossaries;
  CharacterUsage usage;
  DocumentJobs documents;
};

// Whose glossaries a call makes and uses: the API key's; where none are needed all clients share them.
std::string glossary_owner(const DeepL& api, const ServeCall& call);

std::string deepl_code(const std::string& code);  // "EN", "PT-BR", "ZH-HANT"

// What requests for texts and for documents have in common: the languages and the glossary. `from` stays empty where
// it is to be detected. Throws a ServeError in DeepL's words.
struct DeepLChoice {
  std::string from, to;
  std::shared_ptr<const dragoman::Glossary> glossary = {};
};
DeepLChoice chosen_by(const Fields& fields, const ServeCall& call, DeepL& api);

// Of these fields those that are given and would have changed the translation: a header that names them.
HttpHeaders ignored_fields(const Fields& fields, const std::vector<std::string>& names);

// The routes of each part.
std::vector<Route> deepl_translate_routes(const std::shared_ptr<DeepL>& api);
std::vector<Route> deepl_glossary_routes(const std::shared_ptr<DeepL>& api);
std::vector<Route> deepl_document_routes(const std::shared_ptr<DeepL>& api);

using DeepLHandler = void (*)(DeepL& api, const ServeCall& call);
// A route of this API with its handler.
Route deepl_route(const std::shared_ptr<DeepL>& api, Route route, DeepLHandler handler);

}  // namespace dragoman::internal
