// The character encoding that a message catalogue's header names.
#pragma once

#include <string>
#include <string_view>

#include "document/document.h"

namespace dragoman::internal {

// Whether it is what templates have, or says no more than that there is a single byte a character.
bool is_no_charset(std::string_view name);

// Where the header of a file, in whatever encoding, names another one than UTF-8; empty: it does not.
TextSpan other_charset(std::string_view file);

// A file whose header names another one, in UTF-8, with a header that says so. Throws an Error if it is not in the
// encoding that it names.
std::string po_in_utf8(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
