// For a build without poppler.
#include "base/error.h"
#include "document/pdf/pages.h"

namespace dragoman::internal {

const bool reads_pdf = false;

std::vector<PdfPage> pdf_pages(std::string_view, const DocumentSettings& settings) {
  throw Error(
      "{}: this program was built without poppler, so it cannot read PDF: install libpoppler-cpp-dev and "
      "build again, or convert the file first, for instance with pdftotext",
      settings.name);
}

}  // namespace dragoman::internal
