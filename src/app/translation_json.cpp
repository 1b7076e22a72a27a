#include "app/translation_json.h"

#include "report/numbers.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(dragoman::Span span) { return ordered_json::array({span.begin, span.end}); }

// Of a long line a token saw one segment alone: the rest of the row is left out.
ordered_json attention_json(const dragoman::Hypothesis& hypothesis) {
  ordered_json rows = ordered_json::array();
  for (const Token& token : hypothesis.tokens) {
    ordered_json weights = ordered_json::array();
    for (const float weight : token.attention) weights.push_back(rounded_weight(weight));
    rows.push_back({{"first", token.attention_begin}, {"weights", std::move(weights)}});
  }
  return rows;
}

ordered_json to_json(const dragoman::Hypothesis& hypothesis, const TranslationJson& with) {
  ordered_json tokens = ordered_json::array();
  for (const Token& token : hypothesis.tokens) {
    tokens.push_back({{"piece", token.text}, {"log_probability", token.log_probability}});
    if (with.alignment) tokens.back().update({{"span", to_json(token.span)}, {"source", token.source}});
  }
  ordered_json object = {{"text", hypothesis.text}, {"score", hypothesis.score}, {"tokens", tokens}};
  if (with.alignment) {
    object["alignment"] = ordered_json::array();
    for (const WordAlignment& pair : hypothesis.alignment) {
      object["alignment"].push_back({{"source", pair.source},
                                     {"target", pair.target},
                                     {"source_span", to_json(pair.source_span)},
                                     {"target_span", to_json(pair.target_span)}});
    }
  }
  if (with.attention) object["attention"] = attention_json(hypothesis);
  return object;
}

ordered_json flags_of(const dragoman::Translation& t) {
  ordered_json flags = ordered_json::array();
  for (const auto& [set, name] : {std::pair(t.invalid, "invalid"), std::pair(t.cut, "cut"),
                                  std::pair(t.unknown, "unknown"), std::pair(t.repeats, "repeats")}) {
    if (set) flags.push_back(name);
  }
  return flags;
}

}  // namespace

ordered_json to_json(const dragoman::Translation& translation, const TranslationJson& with) {
  ordered_json object = {{"source", translation.source}};
  if (with.alignment || with.attention) {
    object["source_tokens"] = ordered_json::array();
    for (const SourceToken& token : translation.source_tokens)
      object["source_tokens"].push_back({{"piece", token.text}, {"span", to_json(token.span)}});
  }
  object.update(to_json(translation.hypotheses.front(), with));
  object["flags"] = flags_of(translation);
  if (!with.alternatives) return object;
  for (const dragoman::Hypothesis& hypothesis : translation.hypotheses)
    object["nbest"].push_back(to_json(hypothesis, with));
  return object;
}

}  // namespace dragoman::internal
