#include "serve/operation/openapi.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/build.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

const char* reason(int status) {
  switch (status) {
    case 400:
      return "the request is not valid; the message says why";
    case 401:
    case 403:
      return "an API key is missing or wrong";
    case 404:
      return "not found";
    case 413:
      return "the request is larger than the server allows";
    case 415:
      return "the body's Content-Type is not one of these";
    case 429:
      return "too many requests or characters: Retry-After has the seconds to wait";
    case 503:
      return "the server is loading, stopping or full: Retry-After has the seconds to wait";
    case 504:
      return "the deadline passed first";
    default:
      return "the request failed; the message says why";
  }
}

ordered_json error_schema(const std::string& tag) {
  const ordered_json text = {{"type", "string"}};
  const auto object = [](const char* key, const ordered_json& value) -> ordered_json {
    return {{"type", "object"}, {"required", ordered_json::array({key})}, {"properties", {{key, value}}}};
  };
  if (tag == "LibreTranslate") return object("error", text);
  if (tag == "DeepL") return object("message", text);
  if (tag == "MyMemory") return object("responseDetails", text);
  return object("error", {{"type", "object"},
                          {"required", {"message", "kind"}},
                          {"properties", {{"message", text}, {"kind", text}}}});
}

ordered_json content(const std::string& type, const ordered_json& schema) {
  return {{type, {{"schema", schema}}}};
}

bool has_name(const std::string& path) { return path.find('<') != path.npos; }

ordered_json answers_of(const Route& route, bool needs_key) {
  ordered_json answers;
  answers["200"] = {{"description", route.summary},
                    {"content", content(route.answer_type,
                                        route.answer.is_null() ? ordered_json::object() : route.answer)}};
  if (route.streams) answers["200"]["content"]["text/event-stream"] = {{"schema", ordered_json::object()}};
  std::vector<int> statuses = route.errors;
  if (!route.open) {
    for (const int status : {400, 429, 503}) statuses.push_back(status);
    if (needs_key) statuses.insert(statuses.end(), {401, 403});
  }
  if (has_name(route.path)) statuses.push_back(400);
  if (route.body_bytes > 0) statuses.insert(statuses.end(), {400, 408, 413, 415});
  std::ranges::sort(statuses);
  statuses.erase(std::unique(statuses.begin(), statuses.end()), statuses.end());
  for (const int status : statuses) {
    ordered_json schema = error_schema(route.tag);
    // An invalid path or query is refused before it is known which API it belongs to.
    if (status == 400 && (has_name(route.path) || route.query.is_object()))
      schema = {{"anyOf", ordered_json::array({schema, error_schema("LibreTranslate")})}};
    answers[std::to_string(status)] = {{"description", reason(status)},
                                       {"content", content("application/json", schema)}};
  }
  return answers;
}

ordered_json parameter(const std::string& name, const char* in, const ordered_json& schema) {
  return {{"name", name}, {"in", in}, {"required", std::string_view(in) == "path"}, {"schema", schema}};
}

ordered_json operation(const Route& route, const std::string& path, bool needs_key) {
  ordered_json result = {{"tags", ordered_json::array({route.tag})}, {"summary", route.summary}};
  ordered_json parameters = ordered_json::array();
  for (size_t at = 0; (at = path.find('{', at)) != path.npos; ++at)
    parameters.push_back(parameter(path.substr(at + 1, path.find('}', at) - at - 1), "path",
                                   {{"type", "string"}, {"minLength", 1}}));
  if (route.query.is_object()) {
    for (const auto& [name, schema] : route.query.items())
      parameters.push_back(parameter(name, "query", schema));
  }
  if (!parameters.empty()) result["parameters"] = parameters;
  if (route.body_bytes > 0) {
    ordered_json types = ordered_json::object();
    for (const std::string& type : route.body_types)
      types[type] = {{"schema", route.body.is_null() ? ordered_json::object() : route.body}};
    result["requestBody"] = {{"required", route.body.contains("required")}, {"content", types}};
  }
  result["responses"] = answers_of(route, needs_key);
  if (needs_key)
    result["security"] =
        route.open ? ordered_json::array() : ordered_json::array({{{"key", ordered_json::array()}}});
  return result;
}

}  // namespace

ordered_json openapi_document(const std::vector<Route>& routes, bool needs_key) {
  ordered_json paths = ordered_json::object();
  for (const Route& route : routes) {
    std::string path = route.path;
    std::erase(path, '*');
    std::ranges::replace(path, '<', '{');
    std::ranges::replace(path, '>', '}');
    paths[path][in_lower_case(route.method)] = operation(route, path, needs_key);
  }
  ordered_json document = {
      {"openapi", "3.1.0"}, {"info", {{"title", "Dragoman"}, {"version", version()}}}, {"paths", paths}};
  if (needs_key) document["components"]["securitySchemes"]["key"] = {{"type", "http"}, {"scheme", "bearer"}};
  return document;
}

}  // namespace dragoman::internal
