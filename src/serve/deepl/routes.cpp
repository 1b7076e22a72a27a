#include "serve/deepl/routes.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "serve/answers.h"
#include "serve/deepl/api.h"
#include "serve/models/languages.h"
#include "serve/requests/schemas.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

constexpr int64_t unlimited = 1'000'000'000'000;  // what DeepL's clients know as no limit
constexpr size_t max_query_bytes = 4096;

void list_languages(DeepL& api, const ServeCall& call) {
  const std::string type = Fields(call).text("type");
  if (type != "" && type != "source" && type != "target")
    throw ServeError(400, "Value for 'type' not supported.");
  const auto served = api.context.translations.languages();
  ordered_json json = ordered_json::array();
  for (const std::string& code : served->all()) {
    const bool target = type == "target";
    if (!(target ? served->targets().contains(code) : served->targets_of().contains(code))) continue;
    json.push_back({{"language", deepl_code(code)}, {"name", english_name(code)}});
    if (target) json.back()["supports_formality"] = false;
  }
  call.responder.send(json_answer(json));
}

void show_usage(DeepL& api, const ServeCall& call) {
  call.responder.send(
      json_answer({{"character_count", api.usage.of(call.client)}, {"character_limit", unlimited}}));
}

ordered_json deepl_languages() {
  return list_schema(object_schema(
      {{"language", text_schema()}, {"name", text_schema()}, {"supports_formality", {{"type", "boolean"}}}},
      {"language", "name"}));
}

ordered_json usage_answer() {
  const ordered_json number = {{"type", "integer"}};
  return object_schema({{"character_count", number}, {"character_limit", number}},
                       {"character_count", "character_limit"});
}

}  // namespace

std::vector<Route> deepl_routes(ServeContext& context) {
  const auto api = std::make_shared<DeepL>(context);
  const ordered_json type = {{"type", {{"type", "string"}, {"enum", {"source", "target"}}}}};
  const ordered_json form = {{"type", "object"},
                             {"properties", type}};  // DeepL's own client sends it with a GET
  const std::vector<std::string> types = {"application/json", "application/x-www-form-urlencoded"};
  std::vector<Route> routes;
  for (const char* method : {"GET", "POST"}) {
    routes.push_back(deepl_route(api,
                                 {.method = method,
                                  .path = "/v2/languages",
                                  .summary = "The supported languages",
                                  .body = form,
                                  .body_types = types,
                                  .query = type,
                                  .answer = deepl_languages(),
                                  .body_bytes = max_query_bytes},
                                 list_languages));
    routes.push_back(deepl_route(api,
                                 {.method = method,
                                  .path = "/v2/usage",
                                  .summary = "The number of characters translated for a client",
                                  .body_types = types,
                                  .answer = usage_answer(),
                                  .body_bytes = max_query_bytes},
                                 show_usage));
  }
  for (const auto& part : {deepl_translate_routes, deepl_glossary_routes, deepl_multilingual_glossary_routes,
                           deepl_document_routes, deepl_memory_routes})
    std::ranges::move(part(api), std::back_inserter(routes));
  return routes;
}

}  // namespace dragoman::internal
