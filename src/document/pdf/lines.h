// The lines of a PDF: a page has words at places, and nothing else.
#pragma once

#include <string>
#include <vector>

#include "document/pdf/pages.h"

namespace dragoman::internal {

struct PdfLine {
  std::string text;
  size_t page = 0;
  double left = 0, top = 0, right = 0, bottom = 0;
  double size = 0;         // of its longest word
  double first_width = 0;  // of its first word
  bool is_entry = false;   // of a table of contents, with a row of dots, which the text is without

  bool is_below(const PdfLine& other) const { return top > other.top + other.size / 2; }
};

// In reading order, without those that are repeated at the top or bottom of pages: headers, footers, page numbers.
std::vector<PdfLine> pdf_lines(const std::vector<PdfPage>& pages);

}  // namespace dragoman::internal
