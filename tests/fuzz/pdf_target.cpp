#include <algorithm>

#include "base/error.h"
#include "document/pdf/paragraphs.h"
#include "fuzz/readers.h"
#include "fuzz/reading.h"
#include "text/unicode.h"

namespace dragoman::internal {

// A line is a word: three bytes for its place and size, and its text; an empty line ends a page.
std::string read_pdf_words(std::string_view bytes) {
  std::vector<PdfPage> pages(1);
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
    if (line.empty()) pages.emplace_back();
    if (line.size() < 4) continue;
    const auto number = [&](size_t i) { return static_cast<double>(static_cast<unsigned char>(line[i])); };
    const double size = 1 + number(2) / 10, left = 2 * number(0), bottom = 3 * number(1);
    const std::string text = repaired(line.substr(3));
    pages.back().push_back({.text = text,
                            .left = left,
                            .top = bottom - size,
                            .right = left + size * static_cast<double>(code_point_count(text)) / 2,
                            .bottom = bottom,
                            .size = size});
  }
  return refusal([&] {
    size_t words = 0;
    for (const PdfPage& page : pages) words += page.size();
    const std::vector<std::string> paragraphs = pdf_paragraphs(pdf_lines(pages));
    CHECK(paragraphs.size() <= words, "{} words, {} paragraphs", words, paragraphs.size());
    for (const std::string& paragraph : paragraphs)
      CHECK(!paragraph.empty() && repaired(paragraph) == paragraph);
  });
}

std::vector<std::string> pdf_word_seeds() {
  return {"  dOne\nA dword\n -din-\n :ddivi-\n Gdded-\n\n  dOne\n Q d2.\n d dtext . . . . 5\n\n  dOne\n",
          "  !•\nz !a\n"};
}

}  // namespace dragoman::internal
