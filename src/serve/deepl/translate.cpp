#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "serve/answers.h"
#include "serve/deepl/api.h"
#include "serve/deepl/tags.h"
#include "serve/requests/schemas.h"
#include "serve/translations/translate_all.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

const std::vector<std::string> ignored_settings = {
    "formality",           "context",           "model_type",     "style_id",
    "custom_instructions", "outline_detection", "splitting_tags", "non_splitting_tags",
    "tag_handling_version"};

// How texts are split, and whether their tags are markup.
struct TextForm {
  std::string format = {};
  dragoman::Options options = {};
  bool one_line = false;  // line ends are white space
};

TextForm form_of(const Fields& fields) {
  TextForm form;
  const std::string tags = fields.text("tag_handling");
  if (tags != "" && tags != "html" && tags != "xml")
    throw ServeError(400, "Value for 'tag_handling' not supported.");
  form.format = tags;
  const nlohmann::json& split = fields.at("split_sentences");
  const bool nothing = split == "0" || split == 0 || split == false, no_lines = split == "nonewlines";
  if (!nothing && !no_lines && !split.is_null() && split != "1" && split != 1 && split != true &&
      split != "default")
    throw ServeError(400, "Value for 'split_sentences' not supported.");
  if (nothing) form.options.emplace_back("split-sentences", "");
  form.one_line = tags.empty() && (nothing || no_lines);
  return form;
}

// The memory that the request names; else all that the server has, of which only exact matches are used.
void choose_memory(const Fields& fields, const DeepLChoice& chosen, const DeepL& api, TextWork& work) {
  const std::string id = fields.text("translation_memory_id");
  if (id.empty()) return;
  const auto memory = deepl_memory(api, id);
  if (!chosen.from.empty() && !memory->has_pair(chosen.from, chosen.to))
    throw ServeError(400, "The translation memory is for other languages than source_lang and target_lang.");
  work.memories = {memory};
  if (fields.at("translation_memory_threshold").is_null()) return;
  const auto threshold = fields.integer("translation_memory_threshold");
  if (!threshold || *threshold < 0 || *threshold > 100)
    throw ServeError(400, "Value for 'translation_memory_threshold' must be 0 to 100.");
  work.memory_at_least = static_cast<double>(*threshold) / 100;
}

void use_one_line(std::string& text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

void translate(DeepL& api, const ServeCall& call) {
  const Fields fields(call);
  std::vector<std::string> texts = fields.texts("text");
  if (texts.empty()) throw ServeError(400, "Parameter 'text' not specified.");
  const DeepLChoice chosen = chosen_by(fields, call, api);
  const TextForm form = form_of(fields);
  const size_t all_characters = checked_characters(api.context, texts);
  const IgnoredTags ignored(form.format.empty() ? std::vector<std::string>() : fields.texts("ignore_tags"));

  std::vector<std::string> marks;
  std::vector<size_t> characters;
  std::vector<TextWork> works;
  for (std::string& text : texts) {
    characters.push_back(code_point_count(text));
    if (form.one_line) use_one_line(text);
    IgnoredTags::MarkedText marked = ignored.marked(text);
    marks.push_back(std::move(marked.mark));
    TextWork& work = works.emplace_back(work_of(api.context, call, std::move(marked.text)));
    work.name = "text";
    work.format = form.format;
    work.options = form.options;
    work.from = chosen.from;
    work.to = chosen.to;
    work.glossary = chosen.glossary;
    choose_memory(fields, chosen, api, work);
  }
  admit_works(api.context, call, works, all_characters);
  api.usage.add(call.client, all_characters);
  const bool show_characters = fields.flag("show_billed_characters");
  const HttpHeaders headers = ignored_fields(fields, ignored_settings);
  translate_all(api.context.translations, call, std::move(works),
                [=](const std::vector<TextResult>& results) {
                  ordered_json translations = ordered_json::array();
                  for (size_t i = 0; i < results.size(); ++i) {
                    translations.push_back({{"detected_source_language", deepl_code(results[i].from)},
                                            {"text", IgnoredTags::unmarked(results[i].text, marks[i])}});
                    if (show_characters) translations.back()["billed_characters"] = characters[i];
                  }
                  HttpResponse response = json_answer({{"translations", translations}});
                  response.headers = headers;
                  return response;
                });
}

ordered_json deepl_translate_body() {
  const ordered_json text = text_schema(), flag = {{"type", "boolean"}};
  ordered_json texts = list_schema(text);
  texts["minItems"] = 1;
  return object_schema(
      {{"text", {{"oneOf", ordered_json::array({text, texts})}}},
       {"source_lang", text},
       {"target_lang", text},
       {"tag_handling", {{"type", "string"}, {"enum", {"html", "xml"}}}},
       {"ignore_tags", {{"oneOf", ordered_json::array({text, list_schema(text)})}}},
       {"split_sentences", {{"type", "string"}, {"enum", {"0", "1", "nonewlines"}}}},
       {"preserve_formatting", flag},
       {"glossary_id", text},
       {"glossary_ids", list_schema(text)},
       {"translation_memory_id", text},
       {"translation_memory_threshold", {{"type", "integer"}, {"minimum", 0}, {"maximum", 100}}},
       {"show_billed_characters", flag},
       {"formality", text_schema("has no effect: the header X-Ignored names it")}},
      {"text", "target_lang"});
}

ordered_json translations_schema() {
  const ordered_json translation = object_schema({{"detected_source_language", text_schema()},
                                                  {"text", text_schema()},
                                                  {"billed_characters", {{"type", "integer"}}}},
                                                 {"detected_source_language", "text"});
  return object_schema({{"translations", list_schema(translation)}}, {"translations"});
}

}  // namespace

std::vector<Route> deepl_translate_routes(const std::shared_ptr<DeepL>& api) {
  return {deepl_route(api,
                      {.method = "POST",
                       .path = "/v2/translate",
                       .summary = "Translates texts",
                       .body = deepl_translate_body(),
                       .body_types = {"application/json", "application/x-www-form-urlencoded"},
                       .answer = translations_schema(),
                       .errors = {404},
                       .body_bytes = static_cast<size_t>(api->context.settings.limits.body),
                       .needs_room = true,
                       .uses_files = true},  // memories; joining glossaries takes as long
                      translate)};
}

}  // namespace dragoman::internal
