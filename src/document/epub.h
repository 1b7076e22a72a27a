// EPUB 2 and 3: books as packages of XHTML files.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

Document read_epub(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
