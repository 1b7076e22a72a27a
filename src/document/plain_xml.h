// XML of no format that is known here. An element that has text of its own, beside other elements or alone, is a
// paragraph, and the elements in it are tags around its words. Attributes stay.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

// Of a file, or of a piece of one: text and elements without one element around them.
Document read_plain_xml(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
