// GET /v1/models: what is loaded, and which pairs it translates.
#include <algorithm>
#include <iterator>
#include <optional>

#include <nlohmann/json.hpp>

#include "serve/answers.h"
#include "serve/requests/schemas.h"
#include "serve/settings.h"
#include "serve/translations.h"
#include "serve/v1/routes.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

ordered_json limits_json(const ServeLimits& limits) {
  return {{"characters", limits.characters},  {"texts", limits.texts}, {"body_bytes", limits.body},
          {"upload_bytes", limits.upload},    {"beam", limits.beam},   {"output", limits.output},
          {"timeout_seconds", limits.timeout}};
}

ordered_json bleu_json(const Adaptation::Bleu& bleu) {
  return {{"before", bleu.before}, {"after", bleu.after}};
}

// Null where the model is as its folder has it.
ordered_json adaptation_json(const std::optional<Adaptation>& adaptation) {
  if (!adaptation) return nullptr;
  return {
      {"time", adaptation->time},
      {"segments", adaptation->segments},
      {"bleu",
       {{"segments", bleu_json(adaptation->of_segments)}, {"general", bleu_json(adaptation->of_general)}}}};
}

HttpResponse models(const ServeContext& context) {
  ordered_json models = ordered_json::array(), pairs = ordered_json::array();
  for (const ServedModel& model : context.translations.models()) {
    const ModelInfo info = model.translator->info();
    models.push_back({{"name", model.name},
                      {"language_model", info.language_model},
                      {"sources", model.sources},
                      {"targets", model.targets},
                      {"parameters", info.parameters},
                      {"precision", info.precision},
                      {"instruction_set", info.instruction_set},
                      {"max_tokens", info.max_tokens},
                      {"adapted", adaptation_json(model.adaptation)}});
  }
  for (const ServedPair& pair : context.translations.pairs())
    pairs.push_back({{"from", pair.from}, {"to", pair.to}, {"via", pair.via}});
  return json_answer({{"models", models},
                      {"pairs", pairs},
                      {"updates", context.translations.updates()},
                      {"detects", !context.settings.detector.empty()},
                      {"limits", limits_json(context.settings.limits)}});
}

}  // namespace

Route v1_models_route(ServeContext& context) {
  const ordered_json objects = list_schema({{"type", "object"}});
  return {.method = "GET",
          .path = "/v1/models",
          .tag = "Dragoman",
          .summary = "Models, pairs of languages and limits",
          .answer = object_schema({{"models", objects},
                                   {"pairs", objects},
                                   {"updates", list_schema(text_schema())},
                                   {"detects", {{"type", "boolean"}}},
                                   {"limits", {{"type", "object"}}}},
                                  {"models", "pairs", "updates", "detects", "limits"}),
          .errors = {503},
          .uses_files = !context.settings.updates.empty(),  // the folder of updates is read each time
          .handle = [&context](ServeCall call) { call.responder.send(models(context)); }};
}

std::vector<Route> v1_routes(ServeContext& context) {
  std::vector<Route> routes = {v1_translate_route(context), v1_generate_route(context),
                               v1_score_route(context), v1_inspect_route(context), v1_models_route(context)};
  std::ranges::move(v1_memory_routes(context), std::back_inserter(routes));
  return routes;
}

}  // namespace dragoman::internal
