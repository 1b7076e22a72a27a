// XML of an unknown format. An element that has text of its own, with or without other elements, is a
// paragraph, and the elements in it are tags around its words. Attributes stay.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

// Of a file, or of a fragment: text and elements without a root element.
Document read_plain_xml(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
