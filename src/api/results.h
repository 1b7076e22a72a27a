// The engine's results as the public types.
#pragma once

#include "dragoman/translator.h"
#include "search/translation.h"

namespace dragoman::internal {

dragoman::Translation to_public(TranslatedLine line);
std::vector<WordAlignment> to_public(const std::vector<WordPair>& pairs);

}  // namespace dragoman::internal
