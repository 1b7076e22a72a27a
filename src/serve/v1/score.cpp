// POST /v1/score: the log-probability of given translations.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "serve/answers.h"
#include "serve/requests/schemas.h"
#include "serve/settings.h"
#include "serve/translations.h"
#include "serve/translations/text_job.h"
#include "serve/v1/routes.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

struct ScoreWork {
  DirectTranslator model;
  std::vector<TextPair> pairs;
  ScoreSettings settings;
  std::chrono::steady_clock::time_point deadline;
  std::shared_ptr<void> room = {};
};

// So few that translations, which wait meanwhile, have their next step soon.
constexpr int64_t batch_tokens = 512;

ordered_json to_json(const Score& score, bool alignment) {
  if (std::isnan(score.total)) return {{"score", nullptr}, {"log_probabilities", ordered_json::array()}};
  ordered_json object = {{"score", score.total}, {"log_probabilities", score.log_probabilities}};
  if (!alignment) return object;
  object["alignment"] = ordered_json::array();
  for (const WordAlignment& pair : score.alignment)
    object["alignment"].push_back({{"source", pair.source}, {"target", pair.target}});
  return object;
}

HttpResponse scores(const ScoreWork& work) {
  ordered_json list = ordered_json::array();
  ScoreSettings settings = work.settings;
  settings.timeout = time_left(work.deadline);
  for (const Score& score : work.model.translator->score(work.pairs, settings))
    list.push_back(to_json(score, settings.alignment));
  return json_answer({{"scores", list}});
}

void score(ServeContext& context, ServeCall call) {
  ScoreWork work = {
      .model = context.translations.direct(call.body.value("from", ""), call.body.value("to", "")),
      .pairs = {},
      .settings = {.alignment = call.body.value("alignment", false),
                   .batch_tokens = batch_tokens,
                   .stop = call.request.disconnected,
                   .client = client_number(call)},
      .deadline = call.deadline};
  work.settings.from = work.model.from;
  work.settings.to = work.model.to;
  std::vector<std::string> texts;
  for (const json& pair : call.body["pairs"]) {
    work.pairs.push_back({pair["source"], pair["target"]});
    texts.push_back(work.pairs.back().source + work.pairs.back().target);
  }
  work.room = admit_computation(context, call, std::move(texts));
  answer_on_worker(context, std::move(call), [work = std::move(work)] { return scores(work); });
}

ordered_json score_body_schema() {
  ordered_json properties = {
      {"pairs",
       list_schema(strict_object_schema(text_properties({"source", "target"}), {"source", "target"}))},
      {"alignment", {{"type", "boolean"}, {"default", false}, {"description", "word alignments"}}}};
  properties.update(language_properties());
  return strict_object_schema(std::move(properties), {"pairs"});
}

ordered_json score_answer_schema() {
  const ordered_json one =
      object_schema({{"score",
                      {{"type", {"number", "null"}},
                       {"description", "the log-probability; null where a side is too long"}}},
                     {"log_probabilities", list_schema({{"type", "number"}})}},
                    {"score", "log_probabilities"});
  return object_schema({{"scores", list_schema(one)}}, {"scores"});
}

}  // namespace

Route v1_score_route(ServeContext& context) {
  return {.method = "POST",
          .path = "/v1/score",
          .tag = "Dragoman",
          .summary = "Log-probabilities of given translations",
          .body = score_body_schema(),
          .answer = score_answer_schema(),
          .errors = {400, 504},
          .body_bytes = static_cast<size_t>(context.settings.limits.body),
          .needs_room = true,
          .handle = [&context](ServeCall call) { score(context, std::move(call)); }};
}

}  // namespace dragoman::internal
