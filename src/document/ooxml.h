// Office Open XML: the documents, presentations and spreadsheets of Microsoft Office and of many others.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

Document read_ooxml(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
