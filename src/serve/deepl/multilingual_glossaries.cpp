// Glossaries of version 3, which have a dictionary for each of several pairs of languages and can be changed.
#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "serve/answers.h"
#include "serve/deepl/api.h"
#include "serve/requests/schemas.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

constexpr size_t max_dictionaries = 50, max_glossary_body = 10 << 20;

ordered_json dictionary_info(const GlossaryDictionary& dictionary) {
  return {{"source_lang", dictionary.from},
          {"target_lang", dictionary.to},
          {"entry_count", dictionary.entries.size()}};
}

ordered_json multilingual_info(const StoredGlossary& glossary) {
  ordered_json dictionaries = ordered_json::array();
  for (const GlossaryDictionary& one : glossary.dictionaries) dictionaries.push_back(dictionary_info(one));
  return {{"glossary_id", glossary.id},
          {"name", glossary.name},
          {"dictionaries", std::move(dictionaries)},
          {"creation_time", glossary.created}};
}

// Null: there is none.
GlossaryDictionary* of_same_languages(StoredGlossary& glossary, const GlossaryDictionary& dictionary) {
  for (GlossaryDictionary& one : glossary.dictionaries)
    if (one.from == dictionary.from && one.to == dictionary.to) return &one;
  return nullptr;
}

// In place of the one for the same languages.
GlossaryDictionary& put(StoredGlossary& glossary, GlossaryDictionary dictionary) {
  if (GlossaryDictionary* const former = of_same_languages(glossary, dictionary))
    return *former = std::move(dictionary);
  if (glossary.dictionaries.size() == max_dictionaries)
    throw ServeError(400, fmt::format("A glossary has at most {} dictionaries.", max_dictionaries));
  return glossary.dictionaries.emplace_back(std::move(dictionary));
}

// New entries count before those that are there.
GlossaryDictionary merged(StoredGlossary& glossary, GlossaryDictionary dictionary) {
  const GlossaryDictionary* const former = of_same_languages(glossary, dictionary);
  if (former == nullptr) return dictionary;
  std::set<std::string> sources;
  for (const auto& entry : dictionary.entries) sources.insert(entry.source);
  for (const auto& entry : former->entries)
    if (!sources.contains(entry.source)) dictionary.entries.push_back(entry);
  check_number_of_entries(dictionary.entries.size());
  return dictionary;
}

const nlohmann::json& dictionaries_in(const ServeCall& call) {
  static const nlohmann::json none = nlohmann::json::array();
  if (!call.body.is_object() || !call.body.contains("dictionaries")) return none;
  if (!call.body["dictionaries"].is_array())
    throw ServeError(400, "Value for 'dictionaries' must be a list.");
  return call.body["dictionaries"];
}

std::shared_ptr<const StoredGlossary> change_glossary(DeepL& api, const ServeCall& call,
                                                      const std::function<void(StoredGlossary&)>& edit) {
  return api.glossaries.change(call.name, glossary_owner(api, call), edit);
}

void create_multilingual(DeepL& api, const ServeCall& call) {
  StoredGlossary glossary = {.id = {},
                             .name = glossary_name(Fields(call)),
                             .created = {},
                             .owner = glossary_owner(api, call),
                             .dictionaries = {}};
  for (const nlohmann::json& one : dictionaries_in(call)) put(glossary, glossary_dictionary(api, one));
  if (glossary.dictionaries.empty()) throw ServeError(400, "Parameter 'dictionaries' not specified.");
  call.responder.send(json_answer(multilingual_info(*api.glossaries.add(std::move(glossary))), 201));
}

void list_multilingual(DeepL& api, const ServeCall& call) {
  ordered_json glossaries = ordered_json::array();
  for (const auto& glossary : api.glossaries.all(glossary_owner(api, call)))
    glossaries.push_back(multilingual_info(*glossary));
  call.responder.send(json_answer({{"glossaries", glossaries}}));
}

void show_multilingual(DeepL& api, const ServeCall& call) {
  call.responder.send(json_answer(multilingual_info(*found_glossary(api, call))));
}

void change_multilingual(DeepL& api, const ServeCall& call) {
  const Fields fields(call);
  const auto changed = change_glossary(api, call, [&](StoredGlossary& glossary) {
    if (!fields.at("name").is_null()) glossary.name = glossary_name(fields);
    for (const nlohmann::json& one : dictionaries_in(call))
      put(glossary, merged(glossary, glossary_dictionary(api, one)));
  });
  call.responder.send(json_answer(multilingual_info(*changed)));
}

void replace_dictionary(DeepL& api, const ServeCall& call) {
  ordered_json info;
  change_glossary(api, call, [&](StoredGlossary& glossary) {
    info = dictionary_info(put(glossary, glossary_dictionary(api, call.body)));
  });
  call.responder.send(json_answer(info));
}

const GlossaryDictionary& found_dictionary(const StoredGlossary& glossary, const ServeCall& call) {
  const Fields fields(call);
  const GlossaryDictionary* dictionary =
      glossary.find(fields.text("source_lang"), fields.text("target_lang"));
  if (dictionary == nullptr) throw ServeError(404, "Dictionary not found");
  return *dictionary;
}

void show_dictionary(DeepL& api, const ServeCall& call) {
  const auto glossary = found_glossary(api, call);
  const GlossaryDictionary& dictionary = found_dictionary(*glossary, call);
  ordered_json shown = dictionary_info(dictionary);
  shown["entries"] = tsv_of(dictionary.entries);
  shown["entries_format"] = "tsv";
  call.responder.send(json_answer({{"dictionaries", ordered_json::array({std::move(shown)})}}));
}

void remove_dictionary(DeepL& api, const ServeCall& call) {
  change_glossary(api, call, [&](StoredGlossary& glossary) {
    const GlossaryDictionary& gone = found_dictionary(glossary, call);
    if (glossary.dictionaries.size() == 1)
      throw ServeError(400, "A glossary has at least one dictionary: delete the glossary.");
    glossary.dictionaries.erase(glossary.dictionaries.begin() + (&gone - glossary.dictionaries.data()));
  });
  call.responder.send({.status = 204});
}

ordered_json dictionary_body() {
  const std::vector<std::string> names = {"source_lang", "target_lang", "entries", "entries_format"};
  return object_schema(text_properties(names), names);
}

ordered_json dictionary_answer() {
  const ordered_json text = text_schema();
  return object_schema({{"source_lang", text}, {"target_lang", text}, {"entry_count", {{"type", "integer"}}}},
                       {"source_lang", "target_lang", "entry_count"});
}

ordered_json multilingual_answer() {
  const ordered_json text = text_schema();
  return object_schema({{"glossary_id", text},
                        {"name", text},
                        {"creation_time", text},
                        {"dictionaries", list_schema(dictionary_answer())}},
                       {"glossary_id", "name", "creation_time", "dictionaries"});
}

// What a route takes: a body for those that change something, languages in the query for those of one dictionary.
Route multilingual_route(const char* method, const std::string& path, const char* summary,
                         ordered_json answer, ordered_json body = nullptr, bool of_dictionary = false) {
  Route route = {.method = method,
                 .path = path,
                 .summary = summary,
                 .body = std::move(body),
                 .answer = std::move(answer),
                 .errors = {404},
                 .uses_files = true};
  if (of_dictionary) route.query = text_properties({"source_lang", "target_lang"});
  return route;
}

}  // namespace

std::vector<Route> deepl_multilingual_glossary_routes(const std::shared_ptr<DeepL>& api) {
  const std::string all = "/v3/glossaries", one = all + "/<name>", pair = one + "/dictionaries";
  const ordered_json body = {{"name", text_schema()}, {"dictionaries", list_schema(dictionary_body())}};
  const size_t body_bytes =
      std::min(max_glossary_body, static_cast<size_t>(api->context.settings.limits.upload));
  std::vector<Route> routes;
  const auto add = [&](Route route, DeepLHandler handler) {
    if (!route.body.is_null()) route.body_bytes = body_bytes;
    routes.push_back(deepl_route(api, std::move(route), handler));
  };
  add(multilingual_route("POST", all, "Creates a glossary of several pairs of languages",
                         multilingual_answer(), object_schema(body, {"name", "dictionaries"})),
      create_multilingual);
  add(multilingual_route("GET", all, "The glossaries, with their pairs of languages",
                         object_schema({{"glossaries", list_schema(multilingual_answer())}}, {"glossaries"})),
      list_multilingual);
  add(multilingual_route("GET", one, "A glossary, with its pairs of languages", multilingual_answer()),
      show_multilingual);
  add(multilingual_route("PATCH", one, "Changes a glossary's name, or adds entries", multilingual_answer(),
                         object_schema(body, {})),
      change_multilingual);
  add(multilingual_route("DELETE", one, "Deletes a glossary", nullptr), remove_glossary);
  add(multilingual_route(
          "GET", one + "/entries", "A dictionary's entries",
          object_schema({{"dictionaries", list_schema(dictionary_answer())}}, {"dictionaries"}), nullptr,
          true),
      show_dictionary);
  add(multilingual_route("PUT", pair, "Replaces a dictionary", dictionary_answer(), dictionary_body()),
      replace_dictionary);
  add(multilingual_route("DELETE", pair, "Deletes a dictionary", nullptr, nullptr, true), remove_dictionary);
  return routes;
}

}  // namespace dragoman::internal
