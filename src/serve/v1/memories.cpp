// /v1/memories: the server's translation memories, searched, added to, and exported.
#include <utility>

#include <nlohmann/json.hpp>

#include "serve/answers.h"
#include "serve/memories/export.h"
#include "serve/memories/json.h"
#include "serve/memories/store.h"
#include "serve/memories/writing.h"
#include "serve/requests/schemas.h"
#include "serve/settings.h"
#include "serve/v1/routes.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

void list_memories(ServeContext& context, const ServeCall& call) {
  ordered_json memories = ordered_json::array();
  for (const auto& served : context.memories.all())
    memories.push_back({{"name", served->name},
                        {"from", served->memory->from()},
                        {"to", served->memory->to()},
                        {"segments", served->memory->size()},
                        {"writable", may_add(context, call)}});
  call.responder.send(json_answer({{"memories", memories}}));
}

void look_in_memory(ServeContext& context, const ServeCall& call) {
  const std::string& text = call.body["text"].get_ref<const std::string&>();
  const auto served = context.memories.named(call.name);
  admit_texts(context, call, {text});
  MemoryQuery query;
  query.at_most = call.body.value("at-most", query.at_most);
  query.at_least = call.body.value("at-least", query.at_least);
  query.match_case = call.body.value("match-case", query.match_case);
  query.match_numbers = call.body.value("match-numbers", query.match_numbers);
  std::vector<dragoman::MemorySegment> found;
  for (const MemoryMatch& match : served->memory->look_up(text, query)) found.push_back(used_segment(match));
  call.responder.send(json_answer({{"segments", json_of_segments(found)}}));
}

void add_to_memory(ServeContext& context, const ServeCall& call) {
  const auto served = context.memories.named(call.name);
  std::vector<std::pair<std::string, std::string>> texts;
  for (const nlohmann::json& segment : call.body["segments"])
    texts.emplace_back(segment["source"], segment["target"]);
  add_segments(context, call, *served, texts);
  call.responder.send(json_answer({{"added", texts.size()}}));
}

void export_memory(ServeContext& context, const ServeCall& call) {
  send_tmx(context, call, context.memories.named(call.name));
}

ordered_json list_answer() {
  const ordered_json memory = object_schema({{"name", text_schema()},
                                             {"from", text_schema()},
                                             {"to", text_schema()},
                                             {"segments", {{"type", "integer"}}},
                                             {"writable", {{"type", "boolean"}}}},
                                            {"name", "from", "to", "segments", "writable"});
  return object_schema({{"memories", list_schema(memory)}}, {"memories"});
}

ordered_json look_body() {
  const MemoryQuery query;
  return strict_object_schema(
      {{"text", text_schema()},
       {"at-most", {{"type", "integer"}, {"minimum", 1}, {"maximum", 100}, {"default", query.at_most}}},
       {"at-least",
        {{"type", "number"},
         {"minimum", 0},
         {"maximum", 1},
         {"default", query.at_least},
         {"description", "the smallest similarity"}}},
       {"match-case", {{"type", "boolean"}, {"default", query.match_case}}},
       {"match-numbers", {{"type", "boolean"}, {"default", query.match_numbers}}}},
      {"text"});
}

ordered_json look_answer() { return object_schema({{"segments", schema_of_segments()}}, {"segments"}); }

ordered_json add_body() {
  const ordered_json segment = strict_object_schema(
      {{"source", text_schema()}, {"target", text_schema("empty: what was there is removed")}},
      {"source", "target"});
  return strict_object_schema({{"segments", {{"type", "array"}, {"minItems", 1}, {"items", segment}}}},
                              {"segments"});
}

ordered_json add_answer() { return object_schema({{"added", {{"type", "integer"}}}}, {"added"}); }

}  // namespace

std::vector<Route> v1_memory_routes(ServeContext& context) {
  const auto route = [&](Route made, void (*handle)(ServeContext&, const ServeCall&)) {
    made.tag = "Dragoman";
    if (made.method == "POST") made.body_bytes = static_cast<size_t>(context.settings.limits.body);
    made.handle = [&context, handle](const ServeCall& call) { handle(context, call); };
    return made;
  };
  return {route({.method = "GET",
                 .path = "/v1/memories",
                 .summary = "The translation memories",
                 .answer = list_answer()},
                list_memories),
          route({.method = "POST",
                 .path = "/v1/memories/<name>/look-up",
                 .summary = "A memory's most similar segments",
                 .body = look_body(),
                 .answer = look_answer(),
                 .errors = {404},
                 .uses_files = true},
                look_in_memory),
          route({.method = "POST",
                 .path = "/v1/memories/<name>/segments",
                 .summary = "Adds segments, which replace those with the same source",
                 .body = add_body(),
                 .answer = add_answer(),
                 .errors = {403, 404},
                 .uses_files = true,
                 .changes_data = true},
                add_to_memory),
          route({.method = "GET",
                 .path = "/v1/memories/<name>/export.tmx",
                 .summary = "All segments, as TMX",
                 .answer_type = "application/xml",
                 .errors = {404}},
                export_memory),
          v1_memory_import_route(context)};
}

}  // namespace dragoman::internal
