#include "document/pdf/pages.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>

#include <poppler-document.h>
#include <poppler-page.h>

#include "base/error.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr int max_pages = 10'000;
constexpr size_t max_words = 5'000'000;

// Some fonts have several letters in one glyph, and bullets of their own.
std::u32string with_plain_letters(std::u32string_view text) {
  static const std::map<char32_t, std::u32string_view> plain = {
      {U'\uFB00', U"ff"}, {U'\uFB01', U"fi"}, {U'\uFB02', U"fl"}, {U'\uFB03', U"ffi"}, {U'\uFB04', U"ffl"},
      {U'\uFB05', U"st"}, {U'\uFB06', U"st"}, {U'\uF0B7', U"•"},  {U'\uF0A7', U"▪"}};
  std::u32string letters;
  for (const char32_t c : text) {
    const auto found = plain.find(c);
    letters += found != plain.end() ? found->second : std::u32string_view(&c, 1);
  }
  return letters;
}

std::string text_of(const poppler::text_box& box) {
  const poppler::byte_array bytes = box.text().to_utf8();
  std::string text;
  for (const char32_t c : with_plain_letters(code_points(repaired({bytes.data(), bytes.size()}))))
    text += to_utf8(c);
  return text;
}

// Stamps at the margin are turned.
PdfPage words_of_page(const poppler::page& page) {
  const std::vector<poppler::text_box> boxes = page.text_list(poppler::page::text_list_include_font);
  PdfPage words;
  for (const poppler::text_box& box : boxes) {
    const poppler::rectf place = box.bbox();
    const std::string text = text_of(box);
    const double height = place.bottom() - place.top(), extent = height + place.right() - place.left();
    if (box.rotation() != 0 || text.empty() || !std::isfinite(extent)) continue;
    const double size = box.has_font_info() ? box.get_font_size() : height;
    words.push_back({.text = text,
                     .left = place.left(),
                     .top = place.top(),
                     .right = place.right(),
                     .bottom = place.bottom(),
                     .size = size > 0 ? size : std::max(height, 1.0)});
  }
  return words;
}

}  // namespace

const bool reads_pdf = true;

std::vector<PdfPage> pdf_pages(std::string_view bytes, const DocumentSettings& settings) {
  static std::once_flag quiet;
  std::call_once(quiet, [] { poppler::set_debug_error_function([](const std::string&, void*) {}, nullptr); });
  constexpr size_t max_bytes = size_t{1} << 30;
  if (bytes.size() > max_bytes)
    throw Error("{}: the PDF is too large, the limit is 1 GiB: split it", settings.name);
  const std::unique_ptr<poppler::document> document(
      poppler::document::load_from_raw_data(bytes.data(), static_cast<int>(bytes.size())));
  if (document && document->is_locked())
    throw Error(
        "{}: this PDF is encrypted: save it without its password first, for instance with qpdf --decrypt",
        settings.name);
  const int count = document ? document->pages() : 0;
  if (count <= 0) throw Error("{}: this is not a PDF, or it is damaged or incomplete", settings.name);
  if (count > max_pages)
    throw Error("{}: the PDF has {} pages, the limit is {}: split it", settings.name, count, max_pages);
  std::vector<PdfPage> pages;
  size_t words = 0;
  for (int i = 0; i < count; ++i) {
    const std::unique_ptr<poppler::page> page(document->create_page(i));
    pages.push_back(page ? words_of_page(*page) : PdfPage());
    words += pages.back().size();
    if (words > max_words)
      throw Error("{}: the PDF has more than {} words: split it", settings.name, max_words);
  }
  return pages;
}

}  // namespace dragoman::internal
