// POST /v1/inspect: what a model makes of a sentence, for the page /inspect.
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "report/colour_scale.h"
#include "serve/answers.h"
#include "serve/requests/schemas.h"
#include "serve/settings.h"
#include "serve/translations.h"
#include "serve/translations/text_job.h"
#include "serve/v1/routes.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

constexpr int colours = 32;

struct InspectWork {
  DirectTranslator model;
  std::string text, name;
  InspectionSettings settings;
  std::chrono::steady_clock::time_point deadline;
  std::shared_ptr<void> room = {};
};

// The model is named as in the list of models; the path of its folder is not shown.
std::string name_of(const Translations& translations, const DirectTranslator& model) {
  for (const ServedModel& one : translations.models()) {
    if (one.translator == model.translator) return one.name;
  }
  return "";
}

HttpResponse inspected(const InspectWork& work) {
  InspectionSettings settings = work.settings;
  settings.timeout = time_left(work.deadline);
  const std::string sentence = work.model.translator->inspect(work.text, settings);
  return {.body = fmt::format(R"({{"model":{},"sentences":[{}],"colours":{}}})",
                              json_text(ordered_json(work.name)), sentence,
                              json_text(ordered_json(scale_colours(colours))))};
}

void inspect(ServeContext& context, ServeCall call) {
  InspectWork work = {
      .model = context.translations.direct(call.body.value("from", ""), call.body.value("to", "")),
      .text = call.body["text"],
      .name = {},
      .settings = {.target = call.body.value("target", ""),
                   .stop = call.request.disconnected,
                   .client = client_number(call)},
      .deadline = call.deadline};
  work.settings.from = work.model.from;
  work.settings.to = work.model.to;
  work.name = name_of(context.translations, work.model);
  work.room = admit_computation(context, call, {work.text + work.settings.target});
  answer_on_worker(context, std::move(call), [work = std::move(work)] { return inspected(work); });
}

ordered_json inspect_body_schema() {
  ordered_json properties = {{"text", text_schema("a sentence of at most 100 subwords")},
                             {"target", text_schema("a translation to inspect instead of the model's")}};
  properties.update(language_properties());
  return strict_object_schema(std::move(properties), {"text"});
}

ordered_json inspection_schema() {
  return object_schema({{"model", text_schema()},
                        {"sentences", list_schema({{"type", "object"}})},
                        {"colours", list_schema(text_schema())}},
                       {"model", "sentences", "colours"});
}

}  // namespace

Route v1_inspect_route(ServeContext& context) {
  return {.method = "POST",
          .path = "/v1/inspect",
          .tag = "Dragoman",
          .summary = "Translations, probabilities and attention weights of a sentence",
          .body = inspect_body_schema(),
          .answer = inspection_schema(),
          .errors = {400, 504},
          .body_bytes = static_cast<size_t>(context.settings.limits.body),
          .needs_room = true,
          .handle = [&context](ServeCall call) { inspect(context, std::move(call)); }};
}

}  // namespace dragoman::internal
