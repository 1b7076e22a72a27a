#include "serve/libretranslate/languages.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "serve/models/languages.h"
#include "serve/route.h"

namespace dragoman::internal {
namespace {

// Its codes of its own.
std::string usual_code(std::string_view written) {
  const std::string code = in_lower_case(written);
  return code == "pb" ? "pt-BR" : code == "zt" ? "zh-Hant" : code;
}

std::string known(const ServedLanguages& served, const std::string& written) {
  const auto code = ServedLanguages::find(served.all(), usual_code(written));
  if (!code) throw ServeError(400, fmt::format("{} is not supported", written));
  return *code;
}

}  // namespace

std::string libretranslate_code(const std::string& code) { return code == "zh" ? "zh-Hans" : code; }

LanguageChoice chosen_languages(const ServedLanguages& served, const std::string& source,
                                const std::string& target) {
  if (source.empty()) missing_parameter("source");
  if (target.empty()) missing_parameter("target");
  const LanguageChoice chosen = {source == "auto" ? source : known(served, source), known(served, target)};
  if (chosen.from != "auto" && !served.has_pair(chosen.from, chosen.to)) {
    throw ServeError(400, fmt::format("{} ({}) is not available as a target language from {} ({})",
                                      english_name(chosen.to), libretranslate_code(chosen.to),
                                      english_name(chosen.from), libretranslate_code(chosen.from)));
  }
  return chosen;
}

void missing_parameter(const char* name) {
  throw ServeError(400, fmt::format("Invalid request: missing {} parameter", name));
}

}  // namespace dragoman::internal
