// Names of languages in English.
#pragma once

#include <string>

namespace dragoman::internal {

std::string english_name(
    const std::string& code);  // "Portuguese (Brazil)" for "pt-BR"; the code where it has none

}  // namespace dragoman::internal
