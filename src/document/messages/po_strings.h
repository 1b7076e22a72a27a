// Strings of message catalogues: their escapes, and how gettext's programs lay them out.
#pragma once

#include <string>
#include <string_view>

#include "document/messages/strings.h"

namespace dragoman::internal {

const StringSyntax& po_syntax();

// "msgstr" and a string that is already escaped, as msgcat writes them: lines of at most 79 columns.
std::string po_field(std::string_view keyword, std::string_view escaped, std::string_view line_break);

}  // namespace dragoman::internal
