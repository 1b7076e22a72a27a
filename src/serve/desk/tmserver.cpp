// Look-ups as Translate Toolkit's tmserver answers them, under /tmserver, and amaGama, under /api/v1.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "serve/answers.h"
#include "serve/desk/routes.h"
#include "serve/memories/writing.h"
#include "serve/requests/fields.h"
#include "serve/requests/schemas.h"
#include "serve/settings.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

constexpr int64_t default_candidates = 3, most_candidates = 100, default_similarity = 75;

// The path's, or where that ends with a slash, as amaGama's clients also have it, the query's.
std::string unit_text(const ServeCall& call, const Fields& fields) {
  const std::string text = call.names.size() > 2 ? call.names[2] : fields.text("source");
  if (text.empty()) throw ServeError(404, "there is no text to look for: /LANGUAGE/LANGUAGE/unit/TEXT");
  return text;
}

int64_t whole_number(const Fields& fields, const char* name, int64_t otherwise) {
  const std::optional<int64_t> number = fields.integer(name);
  if (!number && !fields.at(name).is_null())
    throw ServeError(400, fmt::format("{} must be a whole number", name));
  return number.value_or(otherwise);
}

MemoryQuery unit_query(const Fields& fields) {
  const int64_t similarity = whole_number(fields, "min_similarity", default_similarity),
                candidates = whole_number(fields, "max_candidates", default_candidates);
  return {.at_most = std::clamp<int64_t>(candidates, 1, most_candidates),
          .at_least = static_cast<double>(std::clamp<int64_t>(similarity, 0, 100)) / 100};
}

void look_up_unit(ServeContext& context, const ServeCall& call) {
  const Fields fields(call);
  const std::string text = unit_text(call, fields);
  admit_texts(context, call, {text});
  const ServedMemories memories = of_pair(context.memories.all(), call.names[0], call.names[1]);
  ordered_json units = ordered_json::array();
  for (const MemoryMatch& match : look_up(memories, text, unit_query(fields))) {
    const double quality = std::round(1e4 * match.similarity) / 100;
    units.push_back({{"source", match.segment.source},
                     {"target", match.segment.target},
                     {"context", ""},
                     {"quality", quality},
                     {"rank", quality}});
  }
  call.responder.send(json_answer(units));
}

std::pair<std::string, std::string> unit_of(const nlohmann::json& unit) {
  const auto text = [&](const char* name) -> std::string {
    if (!unit.is_object() || !unit.contains(name) || !unit[name].is_string())
      throw ServeError(400, "a unit is {\"source\": TEXT, \"target\": TEXT}");
    return unit[name];
  };
  return {text("source"), text("target")};
}

void add_unit(ServeContext& context, const ServeCall& call) {
  const auto memory = memory_to_add(context, call.names[0], call.names[1]);
  add_segments(context, call, *memory, {unit_of(call.body)});
  call.responder.send(json_answer("added"));
}

void list_unit_languages(ServeContext& context, const ServeCall& call) {
  std::set<std::string> sources, targets;
  for (const auto& served : context.memories.all()) {
    sources.insert(served->memory->from());
    targets.insert(served->memory->to());
  }
  call.responder.send(json_answer({{"sourceLanguages", sources}, {"targetLanguages", targets}}));
}

ordered_json units_answer() {
  const ordered_json text = text_schema(), number = {{"type", "number"}};
  return list_schema(object_schema(
      {{"source", text}, {"target", text}, {"context", text}, {"quality", number}, {"rank", number}},
      {"source", "target", "quality", "rank"}));
}

ordered_json unit_body() {
  return object_schema(text_properties({"source", "target"}), {"source", "target"});
}

ordered_json unit_languages_answer() {
  const ordered_json texts = list_schema(text_schema());
  return object_schema({{"sourceLanguages", texts}, {"targetLanguages", texts}},
                       {"sourceLanguages", "targetLanguages"});
}

// Of one unit: GET looks for it, POST and PUT add it.
std::vector<Route> unit_routes(ServeContext& context, const std::string& path, ordered_json query) {
  const auto route = [&](Route made, void (*handle)(ServeContext&, const ServeCall&)) {
    made.path = path;
    made.tag = "tmserver";
    made.uses_files = true;
    made.handle = [&context, handle](const ServeCall& call) { handle(context, call); };
    return made;
  };
  std::vector<Route> routes = {route({.method = "GET",
                                      .summary = "The most similar units",
                                      .query = std::move(query),
                                      .answer = units_answer(),
                                      .errors = {404}},
                                     look_up_unit)};
  for (const char* method : {"POST", "PUT"})
    routes.push_back(route({.method = method,
                            .summary = "Adds a unit",
                            .body = unit_body(),
                            .answer = {{"type", "string"}},
                            .errors = {403, 404},
                            .body_bytes = static_cast<size_t>(context.settings.limits.body),
                            .changes_data = true},
                           add_unit));
  return routes;
}

}  // namespace

std::vector<Route> tmserver_routes(ServeContext& context) {
  const ordered_json whole = {{"type", "integer"}};  // out of range is taken as the nearest that is not
  const ordered_json query = {{"min_similarity", whole}, {"max_candidates", whole}};
  ordered_json with_source = query;
  with_source["source"] = {{"type", "string"}};
  std::vector<Route> routes;
  for (const std::string prefix : {"/tmserver", "/api/v1"}) {
    std::ranges::move(unit_routes(context, prefix + "/<from>/<to>/unit/<text*>", query),
                      std::back_inserter(routes));
    std::ranges::move(unit_routes(context, prefix + "/<from>/<to>/unit/", with_source),
                      std::back_inserter(routes));
    routes.push_back({.method = "GET",
                      .path = prefix + "/languages/",
                      .tag = "tmserver",
                      .summary = "The languages of the memories",
                      .answer = unit_languages_answer(),
                      .handle = [&context](const ServeCall& call) { list_unit_languages(context, call); }});
  }
  return routes;
}

}  // namespace dragoman::internal
