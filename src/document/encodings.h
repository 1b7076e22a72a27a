// Files in other encodings than UTF-8, whose translation is written in UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "document/document.h"

namespace dragoman::internal {

bool is_same_encoding(std::string_view a, std::string_view b);  // utf8 and UTF-8 are

// In UTF-8. Throws an Error if the encoding is unknown, or the bytes are not in it.
std::string converted_to_utf8(std::string_view bytes, const std::string& encoding,
                              const DocumentSettings& settings);

// The document of a file that was read from other bytes than its own: as it was where nothing changes. A file that says
// where translations are from changes with its first segment.
Document read_from_other_bytes(Document document, std::string_view file);

}  // namespace dragoman::internal
