// Vocabularies as Marian reads them: .spm files, or lists of tokens beside the .spm files that split text.
#pragma once

#include <optional>
#include <string>

#include "text/vocabulary.h"

namespace dragoman::internal {

// The bytes of the .spm file whose own ids are the vocabulary's. Nothing if its ids come from a list.
std::optional<std::string> spm_with_its_ids(const Vocabulary& vocabulary);

// "token": id, one per line.
std::string list_of_tokens(const Vocabulary& vocabulary);

}  // namespace dragoman::internal
