// OpenDocument: the text documents, spreadsheets and presentations of LibreOffice and others, as packages or as one XML
// file.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

Document read_odf(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
