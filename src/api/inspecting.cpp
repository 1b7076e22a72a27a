#include "api/inspecting.h"

#include <algorithm>
#include <cstddef>
#include <functional>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "report/inspection.h"
#include "search/attention.h"
#include "search/segments.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

TranslatedLine line_of(const dragoman::Translation& translation) {
  TranslatedLine line = {.source = translation.source, .translations = {}};
  for (const dragoman::Hypothesis& hypothesis : translation.hypotheses) {
    Translation& one = line.translations.emplace_back();
    one.text = hypothesis.text;
    one.score = hypothesis.score;
    for (const Token& token : hypothesis.tokens)
      one.pieces.push_back({token.text, token.log_probability, {token.span.begin, token.span.end}});
  }
  return line;
}

void check_length(const char* side, size_t tokens, int64_t most) {
  if (static_cast<int64_t>(tokens) <= most) return;
  throw UsageError("the {} has {} subwords, and at most {} can be inspected: give a shorter sentence", side,
                   tokens, most);
}

}  // namespace

std::string inspect(Service& service, const std::string& text, const InspectionSettings& settings) {
  if (settings.alternatives < 1 || settings.max_tokens < 1)
    throw UsageError("an inspection's alternatives and max_tokens must be at least 1");
  SavedModel& model = service.only_model();
  if (!has_encoder(model.model.config))
    throw UsageError("{} is a language model, which has no translations to inspect", model.folder);
  const Direction direction = model.direction({.from = settings.from, .to = settings.to});
  size_t tokens = 0;
  for (const Segment& segment : split_line(model, repaired(text), direction)) tokens += segment.ids.size();
  if (tokens == 0) throw UsageError("the text contains no words to inspect");
  check_length("sentence", tokens, settings.max_tokens);
  const std::string target = repaired(settings.target);
  check_length("translation", model.vocabularies.target->encode_with_spans(target).ids.size(),
               settings.max_tokens);
  const dragoman::Options options = {{"from", settings.from},
                                     {"to", settings.to},
                                     {"nbest", std::min(settings.alternatives, model.search.beam)},
                                     {"max-length", settings.max_tokens},
                                     {"alignment", true}};
  const Claim claim = claim_of(settings.client, text.size() + target.size(), settings.timeout);
  const TranslatedLine line = line_of(service
                                          .submit({.text = text,
                                                   .options = options,
                                                   .timeout = settings.timeout,
                                                   .stop = settings.stop,
                                                   .client = claim.client})
                                          .get());
  const auto run = [&](const std::function<void()>& compute) { service.run(claim, settings.stop, compute); };
  const nlohmann::ordered_json data =
      inspection(model, direction, line, target, alignment_layer(model.model.config, 0),
                 /*thousandths=*/true, run);
  return json_text(data);
}

}  // namespace dragoman::internal
