// Files in UTF-16, which begin with a byte order mark: read as UTF-8, and written as they were.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

// Throws an Error if the bytes are neither UTF-8 nor UTF-16.
Document read_unicode(std::string_view bytes, const DocumentSettings& settings,
                      Document (*read)(std::string_view utf8, const DocumentSettings& settings));

}  // namespace dragoman::internal
