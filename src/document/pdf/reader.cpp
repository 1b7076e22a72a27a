// The text of a PDF, a paragraph on each line, with an empty line behind it.
#include "base/error.h"
#include "document/pdf/paragraphs.h"
#include "document/readers.h"

namespace dragoman::internal {

Document read_pdf(std::string_view bytes, const DocumentSettings& settings) {
  const std::vector<PdfPage> pages = pdf_pages(bytes, settings);
  FlatDocument document;
  bool has_text = false;
  for (const std::string& paragraph : pdf_paragraphs(pdf_lines(pages))) {
    has_text |= has_letters(paragraph);
    document.add_text(paragraph);
    document.keep("\n\n");
  }
  if (!has_text)
    throw Error(
        "{}: this PDF has no text, only pictures of it, perhaps: recognize it first, for instance with "
        "ocrmypdf",
        settings.name);
  return std::move(document).finish();
}

}  // namespace dragoman::internal
