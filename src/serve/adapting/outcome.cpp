#include "serve/adapting/outcome.h"

#include <fmt/format.h>

#include "base/json.h"

namespace dragoman::internal {
namespace {

constexpr int usage_error = 2, killed_by_signal = 128;

// The object that the command ends its output with; null where there is none.
nlohmann::ordered_json result_of(const std::string& output) {
  try {
    const auto json = parse_json<nlohmann::ordered_json>(output);
    if (json.is_object() && json.contains("outcome")) return json;
  } catch (const nlohmann::json::exception&) {}
  return nullptr;
}

std::string bleu_of_both(const nlohmann::ordered_json& json) {
  const auto of = [&](const char* what) {
    return fmt::format("{:.1f} ({:.1f} before)", json.at("after").at(what).get<double>(),
                       json.at("before").at(what).get<double>());
  };
  return fmt::format("BLEU {} on held-out segments, {} on general text", of("segments"), of("general"));
}

AdaptOutcome outcome_from_json(const std::string& base, const nlohmann::ordered_json& json) {
  AdaptOutcome outcome = {.name = json.at("outcome"), .message = {}};
  if (outcome.name == "too few") {
    outcome.message = fmt::format("{} is not adapted yet: {}", base, json.at("message").get<std::string>());
    return outcome;
  }
  outcome.figures = {{"before", json.at("before")}, {"after", json.at("after")}};
  const char* const how = outcome.name == "adapted"     ? "was adapted: it has"
                          : outcome.name == "no better" ? "stays as it is: adapted, it would have"
                                                        : "is adapted to all segments: it has";
  outcome.message = fmt::format("{} {} {}", base, how, bleu_of_both(json));
  return outcome;
}

std::string without_name(const std::string& line) {
  constexpr std::string_view name = "dragoman: ";
  return line.starts_with(name) ? line.substr(name.size()) : line;
}

}  // namespace

AdaptOutcome outcome_of(const std::string& base, const ProgramEnd& end, const std::string& last_line,
                        bool stopped) {
  try {
    if (const auto json = result_of(end.output); json.is_object()) return outcome_from_json(base, json);
  } catch (const nlohmann::json::exception&) {}
  if (stopped) return {"stopped", fmt::format("adapting {} was stopped, and goes on later", base)};
  std::string why = without_name(last_line);
  if (end.code == usage_error) return {"refused", fmt::format("{} cannot be adapted: {}", base, why)};
  if (end.code > killed_by_signal)
    why = fmt::format("it was ended by signal {}", end.code - killed_by_signal);
  if (why.empty()) why = fmt::format("it ended with status {}", end.code);
  return {"failed", fmt::format("adapting {} failed, and is tried again: {}", base, why)};
}

}  // namespace dragoman::internal
