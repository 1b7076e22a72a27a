// Markdown: CommonMark, with the tables and other marks of common dialects.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

Document read_markdown(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
