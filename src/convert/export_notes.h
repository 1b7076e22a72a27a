// Notes that several exporters have.
#pragma once

#include <string>
#include <vector>

#include "text/vocabulary.h"

namespace dragoman::internal {

// Adds one where a vocabulary's words are split from punctuation first, of which other systems know nothing.
void note_tokenizer(const Vocabularies& vocabularies, std::vector<std::string>& notes);

}  // namespace dragoman::internal
