// Files of texts with their translations: XLIFF 1.2 and 2, and TMX 1.4. A unit that has a translation keeps
// it; a new translation goes into its place.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

Document read_xliff(std::string_view bytes, const DocumentSettings& settings);
Document read_tmx(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
