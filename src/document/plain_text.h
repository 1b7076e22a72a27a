// Plain text: each line is a paragraph, and lines without words stay as they are.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

Document read_plain_text(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
