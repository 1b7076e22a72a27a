// The vocabulary of Hugging Face's models of many languages: pieces of one SentencePiece file, with a token for each
// language after them.
//
//   <s> <pad> </s> <unk> | pieces | languages | <mask>, unused tokens
#pragma once

#include <string>

#include "convert/imported_model.h"
#include "convert/settings.h"

namespace dragoman::internal {

// `rows`: of the embedding, each of which is a token.
Vocabularies read_many_languages(const ImportRequest& request, const Settings& settings, int64_t rows);

// "__fr__" is "fr", "fra_Latn" and "fr_XX" are themselves; "" for tokens that are not languages.
std::string language_name(const std::string& token);

// The language of a token, or "".
std::string language_of(const Languages& languages, int64_t token);

}  // namespace dragoman::internal
