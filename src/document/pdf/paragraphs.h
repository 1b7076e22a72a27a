// The paragraphs of a PDF, which has lines: put together from where these stand, how far apart, and how they end.
#pragma once

#include <string>
#include <vector>

#include "document/pdf/lines.h"

namespace dragoman::internal {

std::vector<std::string> pdf_paragraphs(const std::vector<PdfLine>& lines);

}  // namespace dragoman::internal
