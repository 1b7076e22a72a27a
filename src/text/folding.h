// Plainer characters in place of those that a vocabulary lacks: straight quotes for curly ones, hyphens for dashes.
#pragma once

#include <string_view>

#include "text/vocabulary.h"

namespace dragoman::internal {

// The subwords of a text whose unknown characters are read as plainer ones, where there are some. Spans are of the
// text.
PiecesOfText encode_folded(std::string_view text, const Vocabulary& vocabulary);

}  // namespace dragoman::internal
