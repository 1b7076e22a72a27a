// A segment's marks in its translation: each exactly once, whole, nested as they were, and never inside a word.
//
// A span goes around the run of words that comes from what it enclosed. A point, and a span with no word left,
// go between the words that their neighbours became. Cuts are placed by the words on their sides and by length.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "document/document.h"
#include "document/placement/word_links.h"

namespace dragoman::internal {

// The segment as the translated file has it; its original bytes if the translation is the text itself. Without
// links, marks keep their relative place in the text.
std::string render(const DocumentSegment& segment, std::string_view translation,
                   std::span<const TextLink> links);

}  // namespace dragoman::internal
