#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "serve/answers.h"
#include "serve/deepl/api.h"
#include "serve/requests/schemas.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

constexpr size_t max_glossary_name = 1024, max_body = 10 << 20;

ordered_json info_of(const StoredGlossary& glossary) {
  const GlossaryDictionary& dictionary = glossary.dictionaries.front();
  return {{"glossary_id", glossary.id},
          {"name", glossary.name},
          {"ready", true},
          {"source_lang", dictionary.from},
          {"target_lang", dictionary.to},
          {"creation_time", glossary.created},
          {"entry_count", dictionary.entries.size()}};
}

// This version's requests know glossaries of one pair of languages.
bool has_one_pair(const StoredGlossary& glossary) { return glossary.dictionaries.size() == 1; }

std::shared_ptr<const StoredGlossary> found(const DeepL& api, const ServeCall& call) {
  auto glossary = found_glossary(api, call);
  if (!has_one_pair(*glossary)) throw ServeError(404, "Glossary not found");
  return glossary;
}

// Glossaries hold for models of a pair, not through a third language.
bool is_direct(const DeepL& api, const std::string& from, const std::string& to) {
  for (const ServedPair& pair : api.context.translations.pairs())
    if (pair.from == from && pair.to == to) return pair.via.empty();
  return false;
}

GlossaryEntries entries_of(const std::string& format, const std::string& entries) {
  if (format != "tsv" && format != "csv")
    throw ServeError(400, "Value for 'entries_format' not supported: tsv or csv");
  if (entries.empty()) throw ServeError(400, "Parameter 'entries' not specified.");
  return format == "tsv" ? entries_of_tsv(entries) : entries_of_csv(entries);
}

void create(DeepL& api, const ServeCall& call) {
  const Fields fields(call);
  const std::string name = glossary_name(fields);
  nlohmann::json dictionary = nlohmann::json::object();
  for (const char* field : {"source_lang", "target_lang", "entries", "entries_format"})
    dictionary[field] = fields.text(field);
  const auto glossary = api.glossaries.add({.id = {},
                                            .name = name,
                                            .created = {},
                                            .owner = glossary_owner(api, call),
                                            .dictionaries = {glossary_dictionary(api, dictionary)}});
  call.responder.send(json_answer(info_of(*glossary), 201));
}

void list(DeepL& api, const ServeCall& call) {
  ordered_json glossaries = ordered_json::array();
  for (const auto& glossary : api.glossaries.all(glossary_owner(api, call)))
    if (has_one_pair(*glossary)) glossaries.push_back(info_of(*glossary));
  call.responder.send(json_answer({{"glossaries", glossaries}}));
}

void show(DeepL& api, const ServeCall& call) { call.responder.send(json_answer(info_of(*found(api, call)))); }

void show_entries(DeepL& api, const ServeCall& call) {
  call.responder.send({.type = "text/tab-separated-values; charset=utf-8",
                       .body = tsv_of(found(api, call)->dictionaries.front().entries)});
}

void list_pairs(DeepL& api, const ServeCall& call) {
  ordered_json pairs = ordered_json::array();
  for (const ServedPair& pair : api.context.translations.pairs())
    if (pair.via.empty()) pairs.push_back({{"source_lang", pair.from}, {"target_lang", pair.to}});
  call.responder.send(json_answer({{"supported_languages", pairs}}));
}

ordered_json object(const std::vector<std::string>& texts) {
  return object_schema(text_properties(texts), texts);
}

ordered_json info_schema() {
  ordered_json schema = object({"glossary_id", "name", "source_lang", "target_lang", "creation_time"});
  schema["properties"]["ready"] = {{"type", "boolean"}};
  schema["properties"]["entry_count"] = {{"type", "integer"}};
  return schema;
}

}  // namespace

std::string glossary_name(const Fields& fields) {
  std::string name = fields.text("name");
  if (name.empty() || name.size() > max_glossary_name)
    throw ServeError(400, "Parameter 'name' must have 1 to 1,024 bytes.");
  return name;
}

GlossaryDictionary glossary_dictionary(const DeepL& api, const nlohmann::json& fields) {
  const auto text = [&](const char* name) -> std::string {
    if (!fields.is_object() || !fields.contains(name)) return "";
    if (!fields[name].is_string())
      throw ServeError(400, fmt::format("Value for '{}' must be a string.", name));
    return fields[name];
  };
  const auto languages = api.context.translations.languages();
  const auto from = languages->source(text("source_lang"));
  const auto to = ServedLanguages::find(languages->targets(), text("target_lang"));
  if (!from || !to || !is_direct(api, *from, *to))
    throw ServeError(400, "Unsupported glossary source and target language pair");
  return {*from, *to, entries_of(text("entries_format"), text("entries"))};
}

std::shared_ptr<const StoredGlossary> found_glossary(const DeepL& api, const ServeCall& call) {
  auto glossary = api.glossaries.find(call.name, glossary_owner(api, call));
  if (!glossary) throw ServeError(404, "Glossary not found");
  return glossary;
}

void remove_glossary(DeepL& api, const ServeCall& call) {
  if (!api.glossaries.remove(call.name, glossary_owner(api, call)))
    throw ServeError(404, "Glossary not found");
  call.responder.send({.status = 204});
}

std::vector<Route> deepl_glossary_routes(const std::shared_ptr<DeepL>& api) {
  Route creation = {
      .method = "POST",
      .path = "/v2/glossaries",
      .summary = "Creates a glossary",
      .body = object({"name", "source_lang", "target_lang", "entries", "entries_format"}),
      .body_types = {"application/json", "application/x-www-form-urlencoded"},
      .answer = info_schema(),
      .errors = {456},
      .body_bytes = std::min(max_body, static_cast<size_t>(api->context.settings.limits.upload)),
      .uses_files = true,
      .changes_data = true};
  const auto get = [](const char* path, const char* summary, ordered_json answer,
                      std::vector<int> errors = {}) {
    return Route{.method = "GET",
                 .path = path,
                 .summary = summary,
                 .answer = std::move(answer),
                 .errors = std::move(errors)};
  };
  Route entries = get("/v2/glossaries/<name>/entries", "A glossary's entries", nullptr, {404});
  entries.answer_type = "text/tab-separated-values";
  entries.uses_files = true;  // and may be long
  return {deepl_route(api, std::move(creation), create),
          deepl_route(api,
                      get("/v2/glossaries", "The glossaries",
                          object_schema({{"glossaries", list_schema(info_schema())}}, {"glossaries"})),
                      list),
          deepl_route(api, get("/v2/glossaries/<name>", "A glossary", info_schema(), {404}), show),
          deepl_route(api, std::move(entries), show_entries),
          deepl_route(api,
                      {.method = "DELETE",
                       .path = "/v2/glossaries/<name>",
                       .summary = "Deletes a glossary",
                       .errors = {404},
                       .uses_files = true},
                      remove_glossary),
          deepl_route(api,
                      get("/v2/glossary-language-pairs", "The pairs of languages that may have glossaries",
                          object_schema(
                              {{"supported_languages", list_schema(object({"source_lang", "target_lang"}))}},
                              {"supported_languages"})),
                      list_pairs)};
}

}  // namespace dragoman::internal
