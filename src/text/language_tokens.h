// The tokens that a vocabulary's languages put around a source and before an output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "text/languages.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

// The language's token; nothing where the vocabulary has no languages. Throws an OptionError of this key where the
// language is missing, unknown, or given for such a vocabulary.
std::optional<int32_t> language_token(const Vocabulary& vocabulary, const std::string& language,
                                      const char* key);

SourceFrame source_frame(const Vocabulary& source, bool end_mark, std::optional<int32_t> language);
StartTokens start_tokens(const Vocabulary& target, std::optional<int32_t> language);

}  // namespace dragoman::internal
