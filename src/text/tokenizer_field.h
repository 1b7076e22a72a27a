// The tokenizer that a vocabulary of words was learned with, as a field of its .spm file: so it goes wherever the
// vocabulary goes. SentencePiece's format has room for such fields of others, and its own programs skip them.
#pragma once

#include <string>
#include <string_view>

#include "text/vocabulary_config.h"

namespace dragoman::internal {

// The file's bytes with the field; the same bytes for WordTokenizer::none.
std::string with_tokenizer(std::string model, WordTokenizer tokenizer);

// WordTokenizer::none if there is no field. Throws an Error, which begins with `name`, for an unknown tokenizer.
WordTokenizer tokenizer_of(std::string_view model, const std::string& name);

}  // namespace dragoman::internal
