// JSON string tables. Every string is translated, except keys and what is known not to be text:
//
//   ARB (Flutter)                        keys that begin with @, and all that is inside them
//   messages.json (Chrome's extensions)  all but "message"
//   formatjs                             all but "defaultMessage"
//   Angular's ng extract-i18n            all outside "translations"
#pragma once

#include "document/document.h"

namespace dragoman::internal {

Document read_json_strings(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
