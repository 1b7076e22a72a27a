#include "report/line_json.h"

#include "report/numbers.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(TextSpan span) { return ordered_json::array({span.begin, span.end}); }

// A token of a long line attends to one part of it: a row covers only that part.
ordered_json attention_json(const Translation& translation) {
  ordered_json rows = ordered_json::array();
  for (const ScoredPiece& piece : translation.pieces) {
    ordered_json weights = ordered_json::array();
    for (const float weight : piece.attention.weights) weights.push_back(weight_json(weight));
    rows.push_back({{"first", piece.attention.first}, {"weights", std::move(weights)}});
  }
  return rows;
}

ordered_json to_json(const Translation& translation, const LineJsonOptions& options) {
  ordered_json pieces = ordered_json::array();
  for (const ScoredPiece& piece : translation.pieces) {
    pieces.push_back({{"piece", piece.piece}, {"log_probability", piece.log_probability}});
    if (options.alignment) pieces.back().update({{"span", to_json(piece.span)}, {"source", piece.aligned}});
  }
  ordered_json object = {{"text", translation.text}, {"score", translation.score}, {"tokens", pieces}};
  if (options.alignment) {
    object["alignment"] = ordered_json::array();
    for (const WordPair& pair : translation.alignment) {
      object["alignment"].push_back({{"source", pair.source},
                                     {"target", pair.target},
                                     {"source_span", to_json(pair.source_span)},
                                     {"target_span", to_json(pair.target_span)}});
    }
  }
  if (options.attention) object["attention"] = attention_json(translation);
  return object;
}

ordered_json flags_of(const TranslatedLine& line) {
  ordered_json flags = ordered_json::array();
  for (const auto& [set, name] : {std::pair(line.invalid, "invalid"), std::pair(line.cut, "cut"),
                                  std::pair(line.unknown, "unknown"), std::pair(line.repeats, "repeats")}) {
    if (set) flags.push_back(name);
  }
  return flags;
}

}  // namespace

double weight_json(float weight) { return rounded(static_cast<double>(weight), 5); }

ordered_json to_json(const TranslatedLine& line, const LineJsonOptions& options) {
  ordered_json object = {{"source", line.source}};
  if (options.alignment || options.attention) {
    object["source_tokens"] = ordered_json::array();
    for (const SourcePiece& piece : line.pieces)
      object["source_tokens"].push_back({{"piece", piece.piece}, {"span", to_json(piece.span)}});
  }
  object.update(to_json(line.translations[0], options));
  object["flags"] = flags_of(line);
  if (!options.alternatives) return object;
  for (const Translation& translation : line.translations)
    object["nbest"].push_back(to_json(translation, options));
  return object;
}

}  // namespace dragoman::internal
