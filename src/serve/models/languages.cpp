#include "serve/models/languages.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

#include "text/language_codes.h"

namespace dragoman::internal {

std::string without_region(const std::string& code) {
  const size_t last = code.rfind('-');
  return last != code.npos && code.size() - last - 1 < 4 ? code.substr(0, last) : code;
}

std::string english_name(const std::string& code) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Locale locale = icu::Locale::forLanguageTag(code, status);
  if (U_FAILURE(status)) return code;
  icu::UnicodeString shown;
  locale.getDisplayName(icu::Locale::getEnglish(), shown);
  std::string name;
  shown.toUTF8String(name);
  return name.empty() ? code : name;
}

// "en-pt-BR" could be read as "en-PT" and "br", too: what is written as codes are comes first.
std::optional<LanguagePair> pair_named(std::string_view name) {
  std::optional<LanguagePair> any;
  for (size_t i = name.find('-'); i != name.npos; i = name.find('-', i + 1)) {
    const LanguagePair written = {std::string(name.substr(0, i)), std::string(name.substr(i + 1))};
    const LanguagePair pair = {language_code(written.first), language_code(written.second)};
    if (pair.first.empty() || pair.second.empty() || pair.first == pair.second) continue;
    if (pair == written) return pair;
    if (!any) any = pair;
  }
  return any;
}

std::optional<LanguagePair> pair_of(std::string_view name) {
  const size_t middle = name.rfind('-');
  if (middle == name.npos) return std::nullopt;
  const std::string to = language_code(name.substr(middle + 1));
  name = name.substr(0, middle);
  const std::string from = language_code(name.substr(name.find_last_of("-_./ ") + 1));
  if (from.empty() || to.empty() || from == to) return std::nullopt;
  return LanguagePair{from, to};
}

}  // namespace dragoman::internal
