// POST /v1/generate: texts that a language model continues.
#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "serve/answers.h"
#include "serve/requests/schemas.h"
#include "serve/settings.h"
#include "serve/translation_json.h"
#include "serve/translations.h"
#include "serve/translations/combined_stop.h"
#include "serve/translations/text_job.h"
#include "serve/v1/options.h"
#include "serve/v1/routes.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

struct GenerateWork {
  std::shared_ptr<dragoman::Translator> model;
  std::vector<std::string> texts;
  bool is_list = false;
  dragoman::Request shared;  // what all have in common
  std::chrono::steady_clock::time_point deadline;
  std::shared_ptr<void> room = {};
};

// By name, or the only one that is loaded.
std::shared_ptr<dragoman::Translator> language_model(const Translations& translations,
                                                     const std::string& name) {
  std::vector<ServedModel> found = translations.models();
  std::erase_if(found, [&](const ServedModel& model) {
    return !model.translator->info().language_model || (!name.empty() && model.name != name);
  });
  if (found.empty() && name.empty())
    throw UsageError("no language model is loaded: start the server with one, as another --model");
  if (found.empty()) throw UsageError("no language model has the name {}", name);
  if (found.size() > 1)
    throw UsageError("{} language models are loaded: name one with \"model\"", found.size());
  return found[0].translator;
}

ordered_json to_json(const dragoman::Translation& generated) {
  ordered_json alternatives = ordered_json::array();
  for (size_t i = 1; i < generated.hypotheses.size(); ++i)
    alternatives.push_back(generated.hypotheses[i].text);
  return {{"text", generated.text()},
          {"score", generated.hypotheses[0].score},
          {"alternatives", alternatives},
          {"flags", flags_of(generated)}};
}

// Where one of the texts fails, the others are stopped.
ordered_json generated_texts(const GenerateWork& work) {
  CombinedStop stop(work.shared.stop, {});
  try {
    std::vector<std::future<dragoman::Translation>> futures;
    for (const std::string& text : work.texts) {
      dragoman::Request request = work.shared;
      request.text = text;
      request.timeout = time_left(work.deadline);
      request.stop = stop.token();
      futures.push_back(work.model->submit(std::move(request)));
    }
    ordered_json list = ordered_json::array();
    for (std::future<dragoman::Translation>& future : futures) list.push_back(to_json(future.get()));
    return list;
  } catch (...) {
    stop.request_stop();
    throw;
  }
}

HttpResponse generated(const GenerateWork& work) {
  const ordered_json list = generated_texts(work);
  return json_answer(work.is_list ? ordered_json{{"texts", list}} : list[0]);
}

void generate(ServeContext& context, ServeCall call) {
  const json& text = call.body["text"];
  GenerateWork work = {.model = language_model(context.translations, call.body.value("model", "")),
                       .texts = {},
                       .is_list = text.is_array(),
                       .shared = {.options = options_in(call.body),
                                  .stop = call.request.disconnected,
                                  .tokens = false,
                                  .client = client_number(call)},
                       .deadline = call.deadline};
  if (work.is_list) {
    work.texts = text.get<std::vector<std::string>>();
  } else {
    work.texts = {text.get<std::string>()};
  }
  check_hypotheses(context, work.texts, call.body.value("nbest", int64_t{1}));
  work.room = admit_computation(context, call, work.texts);
  answer_on_worker(context, std::move(call), [work = std::move(work)] { return generated(work); });
}

ordered_json generate_body_schema(const ServeLimits& limits) {
  const ordered_json text = text_schema();
  ordered_json properties = {
      {"text",
       {{"description", "the beginning of a text, or of several: each is continued as if it were alone"},
        {"oneOf", ordered_json::array({text, {{"type", "array"}, {"minItems", 1}, {"items", text}}})}}},
      {"model", text_schema("its name in /v1/models, where several are loaded")}};
  properties.update(generation_properties(limits));
  return strict_object_schema(std::move(properties), {"text"});
}

ordered_json generate_answer_schema() {
  const ordered_json texts = list_schema(text_schema());
  const ordered_json one = object_schema({{"text", text_schema("what was given, and how it goes on")},
                                          {"score", {{"type", "number"}}},
                                          {"alternatives", texts},
                                          {"flags", texts}},
                                         {"text", "score", "alternatives", "flags"});
  const ordered_json list = object_schema({{"texts", list_schema(one)}}, {"texts"});
  return {{"oneOf", ordered_json::array({one, list})}};
}

}  // namespace

Route v1_generate_route(ServeContext& context) {
  return {.method = "POST",
          .path = "/v1/generate",
          .tag = "Dragoman",
          .summary = "Texts that a language model continues",
          .body = generate_body_schema(context.settings.limits),
          .answer = generate_answer_schema(),
          .errors = {400, 504},
          .body_bytes = static_cast<size_t>(context.settings.limits.body),
          .needs_room = true,
          .handle = [&context](ServeCall call) { generate(context, std::move(call)); }};
}

}  // namespace dragoman::internal
