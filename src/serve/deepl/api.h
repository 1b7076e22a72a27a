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
#include "serve/memories/store.h"
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

// Memories that clients export: a job is done when it begins, and its file is made while it is fetched. A client's
// oldest job makes room for its newest, so that none takes the room of all.
class MemoryExports {
 public:
  static constexpr size_t max_jobs = 1000;
  static constexpr int64_t max_jobs_of_client = 20;
  static constexpr int64_t seconds_kept = 1800;

  struct Job {
    std::string id, memory, client;
    int64_t since = 0, until = 0;  // seconds since 1970
  };
  std::string begin(const std::string& memory, const std::string& client);  // its id
  // Throws a ServeError of status 404 where there is none, or where it is another client's; `client` empty: anyone's.
  Job find(const std::string& id, const std::string& client = {}) const;

 private:
  mutable std::mutex mutex_;
  std::vector<Job> jobs_;  // the oldest first
};

struct DeepL : std::enable_shared_from_this<DeepL> {
  explicit DeepL(ServeContext& c) : context(c), glossaries(c.settings.glossaries), documents(c.files) {}

  ServeContext& context;
  GlossaryStore glossaries;
  CharacterUsage usage;
  DocumentJobs documents;
  MemoryExports exports = {};
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

// Throws a ServeError of status 404, in DeepL's words.
std::shared_ptr<const ServedMemory> deepl_memory(const DeepL& api, const std::string& id);

std::string deepl_time(int64_t seconds);  // "2026-01-31T12:00:00.000Z"

// Of a request that makes or changes a glossary.
std::string glossary_name(const Fields& fields);
// A dictionary in a request's JSON, or in its fields. Throws a ServeError where no model translates between its
// languages directly, and where an entry is not one.
GlossaryDictionary glossary_dictionary(const DeepL& api, const nlohmann::json& fields);
// Throws a ServeError of status 404.
std::shared_ptr<const StoredGlossary> found_glossary(const DeepL& api, const ServeCall& call);
// Of all versions: answers that it is gone. Throws likewise.
void remove_glossary(DeepL& api, const ServeCall& call);

// The routes of each part.
std::vector<Route> deepl_translate_routes(const std::shared_ptr<DeepL>& api);
std::vector<Route> deepl_glossary_routes(const std::shared_ptr<DeepL>& api);
std::vector<Route> deepl_multilingual_glossary_routes(const std::shared_ptr<DeepL>& api);  // of version 3
std::vector<Route> deepl_document_routes(const std::shared_ptr<DeepL>& api);
std::vector<Route> deepl_memory_routes(const std::shared_ptr<DeepL>& api);

using DeepLHandler = void (*)(DeepL& api, const ServeCall& call);
// A route of this API with its handler.
Route deepl_route(const std::shared_ptr<DeepL>& api, Route route, DeepLHandler handler);

}  // namespace dragoman::internal
