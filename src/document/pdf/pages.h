// The words of a PDF's pages, with their places. The folder poppler/ reads them, where the build finds that library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

struct PdfWord {
  std::string text;
  double left = 0, top = 0, right = 0, bottom = 0;  // in points, from the page's upper left corner
  double size = 0;                                  // of its font
};

using PdfPage = std::vector<PdfWord>;  // in reading order

extern const bool reads_pdf;  // whether this build does

// Throws an Error if the file is damaged or encrypted.
std::vector<PdfPage> pdf_pages(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
