// Message catalogues: gettext's PO and POT files. Messages without a translation get one, and so do those whose
// translation is fuzzy; the others stay.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

Document read_po(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
