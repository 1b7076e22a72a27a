#include "text/language_codes.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <unicode/locid.h>

#include "base/ascii.h"
#include "text/sentence_rules.h"

namespace dragoman::internal {
namespace {

constexpr size_t longest_code = 32;

bool is_code_character(char c) { return is_alphanumeric(c) || c == '-' || c == '_'; }

bool is_known(const icu::Locale& locale) {
  return locale.getLanguage()[0] != '\0' && locale.getISO3Language()[0] != '\0';
}

// The script that a language is usually written in is left out.
bool has_usual_script(const icu::Locale& locale) {
  icu::Locale usual(locale.getLanguage(), locale.getCountry());
  UErrorCode status = U_ZERO_ERROR;
  usual.addLikelySubtags(status);
  return U_SUCCESS(status) && std::strcmp(usual.getScript(), locale.getScript()) == 0;
}

// Models have codes such as "arb_Arab", which CLDR's aliases lead to "ar". Empty where ICU cannot read it. A file may
// have a name of any length, whose subtags ICU reads in quadratic time: a long one is not read.
std::string canonical_language(std::string_view code) {
  if (code.size() > longest_code) return "";
  return two_letters(icu::Locale::createCanonical(std::string(code).c_str()).getLanguage());
}

}  // namespace

std::string language_code(std::string_view name) {
  if (name.empty() || name.size() > longest_code || !std::ranges::all_of(name, is_code_character)) return "";
  std::string tag(name);
  std::ranges::replace(tag, '_', '-');
  UErrorCode status = U_ZERO_ERROR;
  icu::Locale locale = icu::Locale::forLanguageTag(tag, status);
  if (U_SUCCESS(status)) locale.canonicalize(status);
  if (U_FAILURE(status) || !is_known(locale)) return "";
  std::string code = two_letters(locale.getLanguage());
  if (locale.getScript()[0] != '\0' && !has_usual_script(locale))
    code += std::string("-") + locale.getScript();
  if (locale.getCountry()[0] != '\0') code += std::string("-") + locale.getCountry();
  return code;
}

bool same_primary_subtag(std::string_view a, std::string_view b) {
  const auto primary = [](std::string_view code) { return code.substr(0, code.find_first_of("-_")); };
  return same_ignoring_case(primary(a), primary(b));
}

bool same_language(std::string_view a, std::string_view b) {
  if (same_primary_subtag(a, b)) return true;
  const std::string language = canonical_language(a);
  return !language.empty() && language == canonical_language(b);
}

}  // namespace dragoman::internal
