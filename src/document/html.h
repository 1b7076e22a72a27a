// HTML, whole pages and fragments: text in blocks, with inline elements as marks, and the attributes that people read.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

Document read_html(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
