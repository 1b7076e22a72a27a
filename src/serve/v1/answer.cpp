#include "serve/v1/answer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "report/numbers.h"
#include "serve/memories/json.h"
#include "serve/requests/schemas.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

// The lines' confidences, in their geometric mean over the tokens. None of a document, which comes without its tokens.
std::optional<double> confidence_of(const TextResult& result) {
  double sum = 0;
  size_t tokens = 0;
  for (const dragoman::Translation& line : result.lines) {
    const dragoman::Hypothesis& best = line.hypotheses.front();
    if (best.tokens.empty()) continue;
    sum += std::log(best.confidence()) * static_cast<double>(best.tokens.size());
    tokens += best.tokens.size();
  }
  if (tokens == 0) return std::nullopt;
  return rounded(std::exp(sum / static_cast<double>(tokens)), 4);
}

ordered_json all_flags(const TextResult& result) {
  ordered_json flags = ordered_json::array();
  for (const dragoman::Translation& line : result.lines) {
    for (const std::string_view flag : flags_of(line)) {
      if (std::ranges::find(flags, flag) == flags.end()) flags.push_back(flag);
    }
  }
  return flags;
}

}  // namespace

std::string text_json(const TextResult& result, const AnswerDetail& detail) {
  ordered_json object = {{"text", result.text}, {"from", result.from}, {"to", result.to}};
  if (detail.detected)
    object["detected"] = {{"language", result.from}, {"confidence", rounded(result.detection, 4)}};
  object["via"] = result.via;
  object["alternatives"] = result.alternatives;
  object["flags"] = all_flags(result);
  if (const auto confidence = confidence_of(result)) object["confidence"] = *confidence;
  if (detail.memory) object["memory"] = json_of_segments(result.memory);
  std::string text = json_text(object);
  if (!detail.lines) return text;
  TranslationJson of_lines = detail.of_lines;
  of_lines.from = result.via.empty() ? result.from : result.via.back();  // what the lines' sources are in
  of_lines.to = result.to;
  std::ostringstream lines;
  for (const dragoman::Translation& line : result.lines) {
    lines << (lines.tellp() > 0 ? "," : "");
    print_json(lines, line, of_lines);
  }
  text.pop_back();
  return text + ",\"lines\":[" + lines.str() + "]}";
}

ordered_json translation_schema() {
  const ordered_json text = text_schema();
  return object_schema(
      {{"text", text_schema("the translation")},
       {"from", text},
       {"to", text},
       {"detected",
        {{"type", "object"},
         {"description", "present if the request did not name the source language"},
         {"required", {"language", "confidence"}},
         {"properties", {{"language", text}, {"confidence", {{"type", "number"}}}}}}},
       {"via", list_schema(text)},
       {"alternatives", list_schema(text)},
       {"flags", list_schema(text)},
       {"confidence",
        {{"type", "number"},
         {"description",
          "how likely the translation needs few changes, where the model is calibrated; else the "
          "geometric mean of the subwords' probabilities"}}},
       {"memory", schema_of_segments()},
       {"lines", list_schema({{"type", "object"}})}},
      {"text", "from", "to", "via", "alternatives", "flags"});
}

}  // namespace dragoman::internal
