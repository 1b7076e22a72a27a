// Codes of languages (text/language_codes.h): their English names, and pairs of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dragoman::internal {

// "pt" for "pt-BR", "zh-Hant" for "zh-Hant-TW".
std::string without_region(const std::string& code);

// "Portuguese (Brazil)" for "pt-BR"; the code where it has none.
std::string english_name(const std::string& code);

using LanguagePair = std::pair<std::string, std::string>;

// "en-fr", "pt-BR-en", "en-zh-Hant".
std::optional<LanguagePair> pair_named(std::string_view name);

// The pair with which a name ends, if any: "en-fr", "opus-mt-en-fr", "tatoeba_eng-fra".
std::optional<LanguagePair> pair_of(std::string_view name);

}  // namespace dragoman::internal
