// A segment's marks in its translation: each exactly once, whole, nested as they were, and never inside a word.
//
// A span goes around the run of words that comes from what it enclosed. A point, and a span of which no word is left,
// go between the words that their neighbours became. Cuts are placed by what stands on their sides and by length.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "document/document.h"
#include "document/word_links.h"

namespace dragoman::internal {

// The segment as the translated file has it; where the translation is the text itself, its original bytes. Without
// links marks keep their place by the share of the text before them.
std::string render(const DocumentSegment& segment, std::string_view translation, std::span<const Link> links);

}  // namespace dragoman::internal
