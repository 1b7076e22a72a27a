#include "serve/libretranslate/routes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "dragoman/document.h"
#include "serve/answers.h"
#include "serve/libretranslate/languages.h"
#include "serve/libretranslate/schemas.h"
#include "serve/libretranslate/suggestions.h"
#include "serve/memories/store.h"
#include "serve/models/languages.h"
#include "serve/requests/fields.h"
#include "serve/settings.h"
#include "serve/translations/document.h"
#include "serve/translations/translate_all.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

// Browsers send a line end as CRLF in forms, whatever their user wrote.
void use_line_feeds(std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') result += text[i];
  text = std::move(result);
}

std::vector<std::string> texts_of(const Fields& fields) {
  std::vector<std::string> texts = fields.texts("q");
  if (texts.empty() || (!fields.is_list("q") && texts.front().empty())) missing_parameter("q");
  if (!fields.is_json()) std::ranges::for_each(texts, use_line_feeds);
  return texts;
}

int alternatives_of(const Fields& fields, const ServeLimits& limits) {
  if (fields.at("alternatives").is_null()) return 0;
  const auto number = fields.integer("alternatives");
  if (!number) throw ServeError(400, "Invalid request: alternatives parameter is not a number");
  if (*number > limits.beam - 1)
    throw ServeError(400,
                     fmt::format("Invalid request: alternatives parameter must be <= {}", limits.beam - 1));
  return static_cast<int>(std::max<int64_t>(0, *number));
}

std::string format_of(const Fields& fields) {
  const std::string format = fields.text("format");
  if (format != "" && format != "text" && format != "html")
    throw ServeError(400, fmt::format("{} format is not supported", format));
  return format == "html" ? format : "";
}

ordered_json detected(const std::string& language, double confidence) {
  return {{"confidence", std::round(confidence * 1000) / 10}, {"language", libretranslate_code(language)}};
}

// As its clients know it: of all texts of a list together.
std::string joined(const std::vector<std::string>& texts, const std::string& format) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  return format.empty() ? all : text_of_document({.text = all, .format = format, .name = "q"});
}

ordered_json translation_json(const std::vector<TextResult>& results, bool list, bool automatic,
                              bool alternatives) {
  ordered_json json, texts = ordered_json::array(), languages = texts, others = texts;
  for (const TextResult& result : results) {
    texts.push_back(result.text);
    languages.push_back(detected(result.from, result.detection));
    others.push_back(result.alternatives);
  }
  const auto shaped = [&](ordered_json& values) {
    return list ? std::move(values) : std::move(values.at(0));
  };
  if (alternatives) json["alternatives"] = shaped(others);
  if (automatic) json["detectedLanguage"] = shaped(languages);
  json["translatedText"] = shaped(texts);
  if (!results.front().via.empty()) json["via"] = results.front().via;
  return json;
}

void translate(ServeContext& context, const ServeCall& call) {
  const Fields fields(call);
  std::vector<std::string> texts = texts_of(fields);
  LanguageChoice languages =
      chosen_languages(*context.translations.languages(), fields.text("source"), fields.text("target"));
  const int alternatives = alternatives_of(fields, context.settings.limits);
  const std::string format = format_of(fields);
  const size_t characters = checked_characters(context, texts);
  check_hypotheses(context, texts, 1 + alternatives);

  const bool automatic = languages.from == "auto", list = fields.is_list("q");
  double confidence = 1;
  if (automatic) {
    const DetectedLanguage best = context.translations.detect(joined(texts, format)).front();
    languages.from = best.language;
    confidence = best.confidence;
  }
  std::vector<TextWork> works;
  for (std::string& text : texts) {
    works.push_back(work_of(context, call, std::move(text)));
    works.back().format = format;
    works.back().name = "q";
    works.back().from = languages.from;
    works.back().to = languages.to;
    works.back().alternatives = alternatives;
  }
  admit_works(context, call, works, characters);
  translate_all(context.translations, call, std::move(works), [=](std::vector<TextResult> results) {
    for (TextResult& result : results) result.detection = confidence;
    return json_answer(translation_json(results, list, automatic, alternatives > 0));
  });
}

void detect(ServeContext& context, const ServeCall& call) {
  const std::vector<std::string> texts = texts_of(Fields(call));
  admit_texts(context, call, texts);
  ordered_json json = ordered_json::array();
  for (const DetectedLanguage& language : context.translations.detect(joined(texts, "")))
    json.push_back(detected(language.language, language.confidence));
  call.responder.send(json_answer(json));
}

void list_languages(ServeContext& context, const ServeCall& call) {
  const auto served = context.translations.languages();
  ordered_json json = ordered_json::array();
  for (const std::string& code : served->all()) {
    ordered_json targets = ordered_json::array();
    if (const auto found = served->targets_of().find(code); found != served->targets_of().end()) {
      for (const std::string& target : found->second) targets.push_back(libretranslate_code(target));
    }
    json.push_back({{"code", libretranslate_code(code)}, {"name", english_name(code)}, {"targets", targets}});
  }
  call.responder.send(json_answer(json));
}

void show_settings(ServeContext& context, const ServeCall& call) {
  const ServeSettings& settings = context.settings;
  const auto served = context.translations.languages();
  const std::string target = served->targets().empty() ? "en" : *served->targets().begin();
  ordered_json endings = ordered_json::array();
  for (const dragoman::DocumentFormat& format : dragoman::document_formats())
    for (const std::string& ending : format.endings) endings.push_back(ending);
  call.responder.send(
      json_answer({{"charLimit", settings.limits.characters},
                   {"frontendTimeout", 500},
                   {"apiKeys", !settings.api_keys.empty()},
                   {"keyRequired", !settings.api_keys.empty()},
                   {"suggestions", !settings.suggestions.empty()},
                   {"filesTranslation", true},
                   {"supportedFilesFormat", endings},
                   {"language",
                    {{"source", {{"code", "auto"}, {"name", "Auto Detect"}}},
                     {"target", {{"code", libretranslate_code(target)}, {"name", english_name(target)}}}}}}));
}

void suggest(ServeContext& context, Suggestions& suggestions, const ServeCall& call) {
  if (!suggestions.on()) throw ServeError(403, "Suggestions are disabled on this server.");
  const Fields fields(call);
  for (const char* name : {"q", "s", "source", "target"})
    if (fields.text(name).empty()) missing_parameter(name);
  const LanguageChoice languages =
      chosen_languages(*context.translations.languages(), fields.text("source"), fields.text("target"));
  admit_texts(context, call, {fields.text("q"), fields.text("s")});
  suggestions.add({languages.from, languages.to, fields.text("q"), fields.text("s")});
  call.responder.send(json_answer({{"success", true}}));
}

}  // namespace

std::vector<Route> libretranslate_routes(ServeContext& context) {
  const auto suggestions = std::make_shared<Suggestions>(context.settings.suggestions);
  const auto get = [&](const char* path, const char* summary, ordered_json answer, auto handler) -> Route {
    return {.method = "GET",
            .path = path,
            .tag = "LibreTranslate",
            .summary = summary,
            .answer = std::move(answer),
            .open = true,
            .handle = [&context, handler](const ServeCall& call) { handler(context, call); }};
  };
  const auto post = [&](const char* path, const char* summary, ordered_json body, ordered_json answer,
                        std::function<void(ServeContext&, const ServeCall&)> handler) -> Route {
    return {.method = "POST",
            .path = path,
            .tag = "LibreTranslate",
            .summary = summary,
            .body = std::move(body),
            .body_types = {"application/json", "application/x-www-form-urlencoded", "multipart/form-data"},
            .answer = std::move(answer),
            .body_bytes = static_cast<size_t>(context.settings.limits.body),
            .own_checks = true,
            .key_in_body = true,
            .handle = [&context, handler = std::move(handler)](const ServeCall& call) {
              handler(context, call);
            }};
  };
  namespace schema = libretranslate;
  std::vector<Route> routes = {
      post("/translate", "Translates texts", schema::translate_body(), schema::translate_answer(), translate),
      post("/detect", "Detects a text's language", schema::detect_body(), schema::detect_answer(), detect),
      get("/languages", "The supported languages", schema::languages_answer(), list_languages),
      get("/frontend/settings", "The settings that a web page needs", schema::settings_answer(),
          show_settings),
      post("/suggest", "Records a suggested translation", schema::suggest_body(), schema::suggest_answer(),
           [suggestions](ServeContext& c, const ServeCall& call) { suggest(c, *suggestions, call); })};
  routes.front().needs_room = true;
  routes.front().uses_files = !context.memories.all().empty();
  routes.back().errors = {403};
  routes.back().changes_data = routes.back().uses_files = true;
  std::ranges::move(libretranslate_file_routes(context), std::back_inserter(routes));
  return routes;
}

}  // namespace dragoman::internal
