#include "serve/language_names.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

namespace dragoman::internal {

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

}  // namespace dragoman::internal
