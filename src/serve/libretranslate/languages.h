// Languages as LibreTranslate's clients write and read them.
#pragma once

#include <string>

#include "serve/models/served_languages.h"

namespace dragoman::internal {

std::string libretranslate_code(const std::string& code);  // "zh-Hans" for "zh"

struct LanguageChoice {
  std::string from, to;  // codes; from "auto": to be detected
};

// The languages that a request names, "auto" included. Throws a ServeError in LibreTranslate's words where one is
// missing or not served, or where no model translates between them.
LanguageChoice chosen_languages(const ServedLanguages& served, const std::string& source,
                                const std::string& target);

[[noreturn]] void missing_parameter(const char* name);

}  // namespace dragoman::internal
