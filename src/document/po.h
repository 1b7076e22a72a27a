// Message catalogues: gettext's PO and POT files. Messages without a translation get one, and so do those of which the
// translation is marked as fuzzy; the others stay.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

Document read_po(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
