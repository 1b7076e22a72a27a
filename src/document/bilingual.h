// Files that hold texts beside their translations: XLIFF 1.2 and 2, and TMX 1.4. A unit that has a translation keeps
// it; what is new goes into the place for it.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

Document read_xliff(std::string_view bytes, const DocumentSettings& settings);
Document read_tmx(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
