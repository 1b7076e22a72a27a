// MyMemory's `get`, with the machine's translation as one of its matches, and `set`.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include "serve/answers.h"
#include "serve/desk/routes.h"
#include "serve/memories/writing.h"
#include "serve/models/served_languages.h"
#include "serve/requests/fields.h"
#include "serve/requests/schemas.h"
#include "serve/settings.h"
#include "serve/translations/translate_all.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

constexpr int machine_quality = 70;  // as MyMemory has it: below what a person wrote
constexpr double machine_match = 0.85;
constexpr const char* machine = "MT!";  // by which its clients know the machine's translation

// "en|fr", "en-GB|fr-FR", "EN_US|FR".
std::pair<std::string, std::string> pair_of_request(const Fields& fields) {
  std::string pair = fields.text("langpair");
  std::ranges::replace(pair, '_', '-');
  const size_t bar = pair.find('|');
  if (bar == 0 || bar == pair.npos || bar + 1 == pair.size() || pair.find('|', bar + 1) != pair.npos)
    throw ServeError(400, "langpair is not a pair of languages, such as en|fr");
  return {pair.substr(0, bar), pair.substr(bar + 1)};
}

std::string required_text(const Fields& fields, const char* name) {
  std::string text = fields.text(name);
  if (text.find_first_not_of(" \t\r\n") == text.npos)
    throw ServeError(400, fmt::format("the parameter {} is missing", name));
  return text;
}

std::string mymemory_date(int64_t seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

struct DeskLanguages {
  std::string from, to;
};

ordered_json desk_match(const DeskLanguages& languages, const std::string& source, const std::string& target,
                        double similarity, int quality, const std::string& by, int64_t changed) {
  const std::string date = mymemory_date(changed);
  return {{"id", 0},
          {"segment", source},
          {"translation", target},
          {"source", languages.from},
          {"target", languages.to},
          {"quality", std::to_string(quality)},
          {"reference", nullptr},
          {"usage-count", 1},
          {"subject", "All"},
          {"created-by", by},
          {"last-updated-by", by},
          {"create-date", date},
          {"last-update-date", date},
          {"match", similarity}};
}

ordered_json matches_in_memories(const ServedMemories& memories, const DeskLanguages& languages,
                                 const std::string& text) {
  ordered_json matches = ordered_json::array();
  for (const MemoryMatch& match : look_up(memories, text, {})) {
    const int quality = static_cast<int>(std::lround(100 * match.similarity));
    matches.push_back(desk_match(
        languages, match.segment.source, match.segment.target, std::round(100 * match.similarity) / 100,
        quality, match.segment.origin.empty() ? "memory" : match.segment.origin, match.segment.changed));
  }
  return matches;
}

HttpResponse desk_answer(ordered_json matches) {
  ordered_json best = {{"translatedText", ""}, {"match", 0}};
  double so_far = -1;
  for (size_t i = 0; i < matches.size(); ++i) {
    matches[i]["id"] = i + 1;
    const double match = matches[i]["match"];
    if (match <= so_far) continue;
    so_far = match;
    best = {{"translatedText", matches[i]["translation"]}, {"match", matches[i]["match"]}};
  }
  return json_answer({{"responseData", best},
                      {"quotaFinished", false},
                      {"mtLangSupported", nullptr},
                      {"responseDetails", ""},
                      {"responseStatus", 200},
                      {"responderId", nullptr},
                      {"exception_code", nullptr},
                      {"matches", std::move(matches)}});
}

// The machine's translation, where it is asked for and a model has the languages.
std::optional<TextWork> machine_work(const ServeContext& context, const ServeCall& call, const Fields& fields,
                                     const DeskLanguages& languages, const std::string& text) {
  if (fields.text("mt") == "0" || fields.flag("onlyprivate")) return std::nullopt;
  const auto served = context.translations.languages();
  const auto from = served->source(languages.from);
  const auto to = ServedLanguages::find(served->targets(), languages.to);
  if (!from || !to || !served->has_pair(*from, *to)) return std::nullopt;
  TextWork work = work_of(context, call, text);
  work.memories.clear();
  work.from = *from;
  work.to = *to;
  return work;
}

void get_matches(ServeContext& context, const ServeCall& call) {
  const Fields fields(call);
  const std::string text = required_text(fields, "q");
  const auto [from, to] = pair_of_request(fields);
  const DeskLanguages languages = {from, to};
  std::vector<TextWork> works;
  if (auto work = machine_work(context, call, fields, languages, text)) works.push_back(std::move(*work));
  if (works.empty()) {
    admit_texts(context, call, {text});
  } else {
    admit_works(context, call, works, checked_characters(context, {text}));
  }
  ordered_json matches = matches_in_memories(of_pair(context.memories.all(), from, to), languages, text);
  if (works.empty()) return call.responder.send(desk_answer(std::move(matches)));
  translate_all(context.translations, call, std::move(works), [=](const std::vector<TextResult>& results) {
    ordered_json all = matches;
    all.push_back(desk_match(languages, text, results.front().text, machine_match, machine_quality, machine,
                             std::time(nullptr)));
    return desk_answer(std::move(all));
  });
}

void set_segment(ServeContext& context, const ServeCall& call) {
  const Fields fields(call);
  const auto [from, to] = pair_of_request(fields);
  const std::string source = required_text(fields, "seg"), target = required_text(fields, "tra");
  add_segments(context, call, *memory_to_add(context, from, to), {{source, target}});
  call.responder.send(
      json_answer({{"responseData", "OK"}, {"responseStatus", 200}, {"responseDetails", ""}}));
}

ordered_json get_schema() {
  const ordered_json match =
      object_schema(text_properties({"segment", "translation", "quality", "created-by"}),
                    {"segment", "translation", "quality", "match", "created-by"});
  const ordered_json best = object_schema(text_properties({"translatedText"}), {"translatedText", "match"});
  return object_schema(
      {{"responseData", best}, {"responseStatus", {{"type", "integer"}}}, {"matches", list_schema(match)}},
      {"responseData", "responseStatus", "matches"});
}

ordered_json set_schema() {
  return object_schema({{"responseData", text_schema()}, {"responseStatus", {{"type", "integer"}}}},
                       {"responseData", "responseStatus"});
}

}  // namespace

std::vector<Route> mymemory_routes(ServeContext& context) {
  std::vector<Route> routes;
  const auto add = [&](Route made, const std::vector<std::string>& fields,
                       void (*handle)(ServeContext&, const ServeCall&)) {
    made.tag = "MyMemory";
    if (made.method == "GET") {
      made.query = text_properties(fields);
    } else {
      made.body = {{"type", "object"}, {"properties", text_properties(fields)}};
      made.body_types = {"application/x-www-form-urlencoded", "application/json"};
      made.body_bytes = static_cast<size_t>(context.settings.limits.body);
    }
    made.uses_files = made.own_checks = made.key_in_body = true;
    made.handle = [&context, handle](const ServeCall& call) { handle(context, call); };
    routes.push_back(std::move(made));
  };
  for (const std::string prefix : {"", "/api"}) {
    for (const char* method : {"GET", "POST"}) {
      add({.method = method,
           .path = prefix + "/get",
           .summary = "Segments that are similar, and the machine's translation",
           .answer = get_schema()},
          {"q", "langpair", "mt", "onlyprivate", "key"}, get_matches);
      add({.method = method,
           .path = prefix + "/set",
           .summary = "Adds a segment",
           .answer = set_schema(),
           .errors = {403, 404},
           .changes_data = true},
          {"seg", "tra", "langpair", "key"}, set_segment);
    }
  }
  return routes;
}

std::vector<Route> desk_routes(ServeContext& context) {
  std::vector<Route> routes = mymemory_routes(context);
  std::ranges::move(tmserver_routes(context), std::back_inserter(routes));
  return routes;
}

}  // namespace dragoman::internal
