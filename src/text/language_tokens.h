// The tokens that a vocabulary's languages put around a source and before an output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/languages.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

// Throws an OptionError of this key for what is no language's code; an empty one is not given.
void check_language(const std::string& language, const char* key);

// The language's token; nothing where the vocabulary has no languages, as that of a model of one pair. Throws an
// OptionError of this key where the language is missing or unknown.
std::optional<int32_t> language_token(const Vocabulary& vocabulary, const std::string& language,
                                      const char* key);

// Whether sources have the token of the target language, and not of their own.
bool names_target(const Vocabulary& source);
// The token that a source gets, of one of the two languages, whose keys are for errors.
std::optional<int32_t> source_language_token(const Vocabulary& source, const std::string& from,
                                             const char* from_key, const std::string& to, const char* to_key);
// The languages of sources and of outputs that a model's vocabularies name.
std::vector<std::string> source_languages(const Vocabularies&);
std::vector<std::string> target_languages(const Vocabularies&);

SourceFrame source_frame(const Vocabulary& source, bool end_mark, std::optional<int32_t> language);
StartTokens start_tokens(const Vocabulary& target, std::optional<int32_t> language);

}  // namespace dragoman::internal
