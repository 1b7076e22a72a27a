#include "serve/deepl/api.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_clients = 10'000;  // with counts of their own; all others share one
constexpr size_t max_glossaries_at_once = 5, max_joined_entries = 100'000;

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
  return text;
}

// Keeps the glossary, which another request may change or delete meanwhile.
std::shared_ptr<const GlossaryDictionary> dictionary_of(const std::string& id, const std::string& owner,
                                                        const DeepLChoice& chosen, const DeepL& api) {
  const auto stored = api.glossaries.find(id, owner);
  if (!stored) throw ServeError(404, "Glossary not found");
  const GlossaryDictionary* dictionary = stored->find(chosen.from, chosen.to);
  if (dictionary == nullptr)
    throw ServeError(400, "The glossary is for other languages than source_lang and target_lang.");
  return {stored, dictionary};
}

size_t character_count(const GlossaryEntries& entries) {
  size_t characters = 0;
  for (const auto& entry : entries)
    characters += code_point_count(entry.source) + code_point_count(entry.target);
  return characters;
}

// Of a source that several of them have, the first one's entry counts. Each request joins them anew: their characters
// count in its client's minute.
std::shared_ptr<const dragoman::Glossary> joined_glossaries(const std::vector<std::string>& ids,
                                                            const ServeCall& call, const DeepLChoice& chosen,
                                                            DeepL& api) {
  if (ids.size() > max_glossaries_at_once)
    throw ServeError(
        400, fmt::format("Value for 'glossary_ids' has more than {} glossaries.", max_glossaries_at_once));
  std::vector<std::shared_ptr<const GlossaryDictionary>> dictionaries;
  size_t count = 0;
  for (const std::string& id : ids) {
    dictionaries.push_back(dictionary_of(id, glossary_owner(api, call), chosen, api));
    count += dictionaries.back()->entries.size();
  }
  if (dictionaries.size() == 1) return dictionaries.front()->glossary;
  if (count > max_joined_entries)
    throw ServeError(400,
                     fmt::format("The glossaries in 'glossary_ids' have {} entries, more than the {} that "
                                 "can be joined: name fewer.",
                                 count, max_joined_entries));
  GlossaryEntries entries;
  std::set<std::string_view> sources;
  for (const auto& dictionary : dictionaries)
    for (const auto& entry : dictionary->entries)
      if (sources.insert(entry.source).second) entries.push_back(entry);
  take_characters(api.context, call.client, character_count(entries));
  return std::make_shared<const dragoman::Glossary>(entries);
}

std::shared_ptr<const dragoman::Glossary> glossary_of(const Fields& fields, const ServeCall& call,
                                                      const DeepLChoice& chosen, DeepL& api) {
  const std::string id = fields.text("glossary_id");
  const std::vector<std::string> ids = fields.texts("glossary_ids");
  if (id.empty() && ids.empty()) return nullptr;
  if (chosen.from.empty()) throw ServeError(400, "Value for 'source_lang' required with 'glossary_id'.");
  if (!id.empty()) return dictionary_of(id, glossary_owner(api, call), chosen, api)->glossary;
  return joined_glossaries(ids, call, chosen, api);
}

// Defaults that ask for nothing.
bool asks_for_nothing(const nlohmann::json& value) {
  return value.is_null() || value == "default" || value == "" || value == nlohmann::json::array();
}

}  // namespace

void CharacterUsage::add(const std::string& client, size_t characters) {
  const std::lock_guard lock(mutex_);
  const bool known = characters_.contains(client) || characters_.size() < max_clients;
  characters_[known ? client : ""] += characters;
}

uint64_t CharacterUsage::of(const std::string& client) const {
  const std::lock_guard lock(mutex_);
  const auto found = characters_.find(client);
  return found != characters_.end() ? found->second : 0;
}

std::string glossary_owner(const DeepL& api, const ServeCall& call) {
  return api.context.settings.api_keys.empty() ? "" : call.client;
}

std::string deepl_code(const std::string& code) { return upper(code); }

DeepLChoice chosen_by(const Fields& fields, const ServeCall& call, DeepL& api) {
  const auto languages = api.context.translations.languages();
  const ServedLanguages& served = *languages;
  DeepLChoice chosen;
  const std::string source = fields.text("source_lang"), target = fields.text("target_lang");
  if (target.empty()) throw ServeError(400, "Value for 'target_lang' not specified.");
  const auto to = ServedLanguages::find(served.targets(), target);
  if (!to) throw ServeError(400, "Value for 'target_lang' not supported.");
  chosen.to = *to;
  if (!source.empty()) {
    const auto from = served.source(source);
    if (!from) throw ServeError(400, "Value for 'source_lang' not supported.");
    if (!served.has_pair(*from, *to))
      throw ServeError(400,
                       fmt::format("Value for 'target_lang' not supported with 'source_lang' {}.", source));
    chosen.from = *from;
  }
  chosen.glossary = glossary_of(fields, call, chosen, api);
  return chosen;
}

HttpHeaders ignored_fields(const Fields& fields, const std::vector<std::string>& names) {
  std::string ignored;
  for (const std::string& name : names) {
    if (!asks_for_nothing(fields.at(name))) ignored += (ignored.empty() ? "" : ", ") + name;
  }
  return ignored.empty() ? HttpHeaders{} : HttpHeaders{{"x-ignored", ignored}};
}

Route deepl_route(const std::shared_ptr<DeepL>& api, Route route, DeepLHandler handler) {
  route.tag = "DeepL";
  route.own_checks = true;
  route.key_in_body = true;
  route.handle = [api, handler](const ServeCall& call) { handler(*api, call); };
  return route;
}

}  // namespace dragoman::internal
