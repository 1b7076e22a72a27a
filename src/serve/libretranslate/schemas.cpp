#include "serve/libretranslate/schemas.h"

#include <nlohmann/json.hpp>

#include "serve/requests/schemas.h"

namespace dragoman::internal::libretranslate {
namespace {

using nlohmann::ordered_json;

ordered_json one_or_list(const ordered_json& schema) {
  return {{"oneOf", ordered_json::array({schema, list_schema(schema)})}};
}

ordered_json texts() {
  ordered_json schema = one_or_list(text_schema());
  schema["oneOf"][0]["minLength"] = 1;
  schema["oneOf"][1]["minItems"] = 1;
  schema["description"] = "a text, or several, which are translated as one batch";
  return schema;
}

ordered_json detection() {
  return object_schema(
      {{"confidence", {{"type", "number"}, {"minimum", 0}, {"maximum", 100}}}, {"language", text_schema()}},
      {"confidence", "language"});
}

ordered_json source() { return text_schema("the language's code, or \"auto\": detected"); }
ordered_json target() { return text_schema("the language's code"); }
ordered_json key() { return text_schema("if the server requires one"); }

}  // namespace

ordered_json translate_body() {
  return object_schema(
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
  return object_schema(
      {{"translatedText", one_or_list(text_schema())},
       {"detectedLanguage", one_or_list(detection())},
       {"alternatives", {{"type", "array"}, {"description", "of a text, or of each text a list"}}},
       {"via", list_schema(text_schema("the intermediate language, if no model translates directly"))}},
      {"translatedText"});
}

ordered_json detect_body() { return object_schema({{"q", texts()}, {"api_key", key()}}, {"q"}); }

ordered_json detect_answer() { return list_schema(detection()); }

ordered_json languages_answer() {
  return list_schema(object_schema(
      {{"code", text_schema()}, {"name", text_schema("in English")}, {"targets", list_schema(text_schema())}},
      {"code", "name", "targets"}));
}

ordered_json settings_answer() {
  const ordered_json flag = {{"type", "boolean"}}, number = {{"type", "integer"}};
  const ordered_json language =
      object_schema({{"code", text_schema()}, {"name", text_schema()}}, {"code", "name"});
  return object_schema(
      {{"charLimit", number},
       {"frontendTimeout", number},
       {"apiKeys", flag},
       {"keyRequired", flag},
       {"suggestions", flag},
       {"filesTranslation", flag},
       {"supportedFilesFormat", list_schema(text_schema())},
       {"language", object_schema({{"source", language}, {"target", language}}, {"source", "target"})}},
      {"charLimit", "suggestions", "supportedFilesFormat", "language"});
}

ordered_json suggest_body() {
  return object_schema({{"q", text_schema("the text")},
                        {"s", text_schema("the better translation")},
                        {"source", target()},
                        {"target", target()},
                        {"api_key", key()}},
                       {"q", "s", "source", "target"});
}

ordered_json suggest_answer() { return object_schema({{"success", {{"type", "boolean"}}}}, {"success"}); }

ordered_json file_body() {
  return object_schema({{"file", {{"type", "string"}, {"format", "binary"}}},
                        {"source", source()},
                        {"target", target()},
                        {"api_key", key()}},
                       {"file", "source", "target"});
}

ordered_json file_answer() {
  return object_schema(
      {{"translatedFileUrl", text_schema("URL of the translated file, valid for a limited time")}},
      {"translatedFileUrl"});
}

}  // namespace dragoman::internal::libretranslate
