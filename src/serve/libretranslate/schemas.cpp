#include "serve/libretranslate/schemas.h"

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace dragoman::internal::libretranslate {
namespace {

using nlohmann::ordered_json;

ordered_json text(const char* description = nullptr) {
  ordered_json schema = {{"type", "string"}};
  if (description != nullptr) schema["description"] = description;
  return schema;
}

ordered_json list_of(const ordered_json& items) { return {{"type", "array"}, {"items", items}}; }

ordered_json one_or_list(const ordered_json& schema) {
  return {{"oneOf", ordered_json::array({schema, list_of(schema)})}};
}

ordered_json object(std::vector<std::pair<std::string, ordered_json>> properties,
                    const std::vector<std::string>& required) {
  ordered_json schema = {{"type", "object"}, {"required", required}, {"properties", ordered_json::object()}};
  for (auto& [name, property] : properties) schema["properties"][name] = std::move(property);
  return schema;
}

ordered_json texts() {
  ordered_json schema = one_or_list(text());
  schema["oneOf"][0]["minLength"] = 1;
  schema["oneOf"][1]["minItems"] = 1;
  schema["description"] = "a text, or several, which are translated as one batch";
  return schema;
}

ordered_json detection() {
  return object(
      {{"confidence", {{"type", "number"}, {"minimum", 0}, {"maximum", 100}}}, {"language", text()}},
      {"confidence", "language"});
}

ordered_json source() { return text("the language's code, or \"auto\": detected"); }
ordered_json target() { return text("the language's code"); }
ordered_json key() { return text("if the server requires one"); }

}  // namespace

ordered_json translate_body() {
  return object(
      {{"q", texts()},
       {"source", source()},
       {"target", target()},
       {"format", {{"type", "string"}, {"enum", {"text", "html"}}}},
       {"alternatives",
        {{"type", "integer"}, {"minimum", 0}, {"description", "other translations besides the best"}}},
       {"api_key", key()}},
      {"q", "source", "target"});
}

ordered_json translate_answer() {
  return object({{"translatedText", one_or_list(text())},
                 {"detectedLanguage", one_or_list(detection())},
                 {"alternatives", {{"type", "array"}, {"description", "of a text, or of each text a list"}}},
                 {"via", list_of(text("the intermediate language, if no model translates directly"))}},
                {"translatedText"});
}

ordered_json detect_body() { return object({{"q", texts()}, {"api_key", key()}}, {"q"}); }

ordered_json detect_answer() { return list_of(detection()); }

ordered_json languages_answer() {
  return list_of(object({{"code", text()}, {"name", text("in English")}, {"targets", list_of(text())}},
                        {"code", "name", "targets"}));
}

ordered_json settings_answer() {
  const ordered_json flag = {{"type", "boolean"}}, number = {{"type", "integer"}};
  const ordered_json language = object({{"code", text()}, {"name", text()}}, {"code", "name"});
  return object({{"charLimit", number},
                 {"frontendTimeout", number},
                 {"apiKeys", flag},
                 {"keyRequired", flag},
                 {"suggestions", flag},
                 {"filesTranslation", flag},
                 {"supportedFilesFormat", list_of(text())},
                 {"language", object({{"source", language}, {"target", language}}, {"source", "target"})}},
                {"charLimit", "suggestions", "supportedFilesFormat", "language"});
}

ordered_json suggest_body() {
  return object({{"q", text("the text")},
                 {"s", text("the better translation")},
                 {"source", target()},
                 {"target", target()},
                 {"api_key", key()}},
                {"q", "s", "source", "target"});
}

ordered_json suggest_answer() { return object({{"success", {{"type", "boolean"}}}}, {"success"}); }

ordered_json file_body() {
  return object({{"file", {{"type", "string"}, {"format", "binary"}}},
                 {"source", source()},
                 {"target", target()},
                 {"api_key", key()}},
                {"file", "source", "target"});
}

ordered_json file_answer() {
  return object({{"translatedFileUrl", text("URL of the translated file, valid for a limited time")}},
                {"translatedFileUrl"});
}

}  // namespace dragoman::internal::libretranslate
