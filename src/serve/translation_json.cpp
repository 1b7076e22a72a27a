#include "serve/translation_json.h"

#include <nlohmann/json.hpp>

#include "dragoman/confidence.h"
#include "report/numbers.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

constexpr int log_digits = 6;  // after the point of a log-probability

ordered_json to_json(dragoman::Span span) { return ordered_json::array({span.begin, span.end}); }

ordered_json to_json(const SourceToken& token) {
  return {{"piece", token.text}, {"span", to_json(token.span)}};
}

ordered_json to_json(const Token& token, bool alignment) {
  ordered_json object = {{"piece", token.text},
                         {"log_probability", rounded(token.log_probability, log_digits)}};
  if (alignment) object.update({{"span", to_json(token.span)}, {"source", token.source}});
  return object;
}

ordered_json to_json(const WordAlignment& pair) {
  return {{"source", pair.source},
          {"target", pair.target},
          {"source_span", to_json(pair.source_span)},
          {"target_span", to_json(pair.target_span)}};
}

// Of a long line a token saw only one segment: the rest of the row is left out.
ordered_json attention_json(const Token& token) {
  ordered_json weights = ordered_json::array();
  for (const float weight : token.attention) weights.push_back(rounded_weight(weight));
  return {{"first", token.attention_begin}, {"weights", std::move(weights)}};
}

// "name":[...]
template <class Items, class ToJson>
void print_list(std::ostream& out, const char* name, const Items& items, const ToJson& json_of) {
  out << '"' << name << "\":[";
  const char* before = "";
  for (const auto& item : items) {
    out << before << json_of(item);
    before = ",";
  }
  out << ']';
}

void print_members(std::ostream& out, const dragoman::Hypothesis& hypothesis, const TranslationJson& with) {
  out << "\"text\":" << ordered_json(hypothesis.text)
      << ",\"score\":" << ordered_json(rounded(hypothesis.score, log_digits)) << ',';
  print_list(out, "tokens", hypothesis.tokens,
             [&](const Token& token) { return to_json(token, with.alignment); });
  if (with.words) {
    out << ",\"confidence\":" << ordered_json(rounded(hypothesis.confidence(), 4)) << ',';
    print_list(out, "words", hypothesis.words(), [](const WordConfidence& word) -> ordered_json {
      return {{"span", to_json(word.span)}, {"confidence", rounded(word.confidence, 4)}};
    });
  }
  if (with.alignment) {
    out << ',';
    print_list(out, "alignment", hypothesis.alignment,
               [](const WordAlignment& pair) { return to_json(pair); });
  }
  if (with.attention) {
    out << ',';
    print_list(out, "attention", hypothesis.tokens, attention_json);
  }
}

void print_findings(std::ostream& out, std::string_view source, std::string_view text,
                    const TranslationJson& with) {
  if (!with.findings) return;
  out << ',';
  print_list(out, "findings", check_translation(source, text, with.from, with.to),
             [](const Finding& finding) -> ordered_json {
               return {{"check", finding.check},
                       {"extra", finding.extra},
                       {"text", finding.text},
                       {"description", finding.description}};
             });
}

}  // namespace

ordered_json to_json(const dragoman::MemorySegment& segment) {
  return {{"source", segment.source},
          {"target", segment.target},
          {"similarity", rounded(segment.similarity, 4)},
          {"exact", segment.exact}};
}

std::vector<std::string_view> flags_of(const dragoman::Translation& t) {
  std::vector<std::string_view> flags;
  for (const auto& [set, name] :
       {std::pair(t.invalid, "invalid"), std::pair(t.cut, "cut"), std::pair(t.unknown, "unknown"),
        std::pair(t.repeats, "repeats"), std::pair(t.terms_missed, "terms_missed"),
        std::pair(t.too_short, "too_short"), std::pair(t.unlikely, "unlikely"),
        std::pair(t.memory, "memory")}) {
    if (set) flags.emplace_back(name);
  }
  return flags;
}

void print_json(std::ostream& out, const dragoman::Translation& translation, const TranslationJson& with) {
  out << "{\"source\":" << ordered_json(translation.source) << ',';
  if (with.alignment || with.attention) {
    print_list(out, "source_tokens", translation.source_tokens,
               [](const SourceToken& token) { return to_json(token); });
    out << ',';
  }
  print_members(out, translation.hypotheses.front(), with);
  out << ",\"flags\":" << ordered_json(flags_of(translation));
  if (with.memory) {
    out << ',';
    print_list(out, "memory", translation.memory_segments,
               [](const dragoman::MemorySegment& segment) { return to_json(segment); });
  }
  print_findings(out, translation.source, translation.text(), with);
  const char* before = ",\"nbest\":[";
  if (with.alternatives) {
    for (const dragoman::Hypothesis& hypothesis : translation.hypotheses) {
      out << std::exchange(before, ",") << '{';
      print_members(out, hypothesis, with);
      print_findings(out, translation.source, hypothesis.text, with);
      out << '}';
    }
    out << ']';
  }
  out << '}';
}

}  // namespace dragoman::internal
