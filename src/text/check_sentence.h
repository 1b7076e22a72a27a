// A sentence in the language of a model's source, to see whether its translations make sense: share/check.toml.
#pragma once

#include <string>
#include <string_view>

namespace dragoman::internal {

// By the language's code, as a model has it: "en", "eng_Latn", "__en__". In English where there is no code, or no
// sentence in the language.
std::string check_sentence(std::string_view language);

}  // namespace dragoman::internal
