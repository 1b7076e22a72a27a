// A translation with its marks as Markdown.
//
// In HTML a tag is a tag wherever it stands. In Markdown * and _ are markup only between certain characters: the words
// around a mark decide what becomes of it. So CommonMark's parser reads what is written, and where it does not find a
// mark, the mark takes another form: the other character, without the punctuation at its ends, and at last an HTML tag.
#pragma once

#include <string>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

std::string compose_markdown(const DocumentSegment& segment, std::vector<RenderedPiece> pieces);

}  // namespace dragoman::internal
