#include "document/pdf/lines.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/ascii.h"

namespace dragoman::internal {
namespace {

// Of the font's size: a wider gap between words separates cells, or columns.
constexpr double wide_gap = 2.5, narrow_gap = 0.1;

// A bullet, or the number of an item, whose text may begin far behind it.
bool is_marker(const PdfLine& line) { return line.text.size() <= 4; }

bool continues_line(const PdfLine& line, const PdfWord& word) {
  const double middle = (word.top + word.bottom) / 2;
  const double gap = std::max(word.left - line.right, line.left - word.right);
  return middle > line.top && middle < line.bottom &&
         (gap < wide_gap * word.size || (is_marker(line) && gap < 2 * wide_gap * word.size));
}

PdfLine line_of(const PdfWord& word, size_t page) {
  return {.text = word.text,
          .page = page,
          .left = word.left,
          .top = word.top,
          .right = word.right,
          .bottom = word.bottom,
          .size = word.size,
          .first_width = word.right - word.left};
}

std::vector<PdfLine> lines_of(const PdfPage& words, size_t page) {
  std::vector<PdfLine> lines;
  size_t longest = 0, dots = 0;
  for (const PdfWord& word : words) {
    if (lines.empty() || !continues_line(lines.back(), word)) {
      lines.push_back(line_of(word, page));
      longest = word.text.size();
      dots = 0;
      continue;
    }
    PdfLine& line = lines.back();
    const bool touches = word.left - line.right < narrow_gap * word.size && word.left > line.left;
    const bool is_dot = word.text.find_first_not_of('.') == word.text.npos;
    dots = is_dot ? dots + word.text.size() : 0;
    line.is_entry |= dots > 3;
    if (!is_dot || touches) line.text += (touches ? "" : " ") + word.text;
    if (word.text.size() > longest) {
      longest = word.text.size();
      line.size = word.size;
    }
    line.left = std::min(line.left, word.left);
    line.top = std::min(line.top, word.top);
    line.right = std::max(line.right, word.right);
    line.bottom = std::max(line.bottom, word.bottom);
  }
  return lines;
}

// The text and its place, and the same with one of its numbers counted from the page's: "Page 3 of 9" is then that of
// all pages. Long lines are no page numbers.
std::vector<std::string> running_forms(const PdfLine& line) {
  constexpr size_t longest = 200;    // bytes
  constexpr double same_place = 12;  // letters of other scripts begin higher
  const std::string place = fmt::format("@{:.0f}", line.top / same_place);
  std::vector<std::string> forms = {line.text + place};
  for (size_t at = 0; line.text.size() <= longest && at < line.text.size();) {
    const char* const begin = line.text.data() + at;
    long number = 0;
    const auto [end, error] = std::from_chars(begin, line.text.data() + line.text.size(), number);
    if (!is_digit(*begin) || error != std::errc()) {
      ++at;
      continue;
    }
    const auto size = static_cast<size_t>(end - begin);
    forms.push_back(fmt::format("{}#{}#{}{}", line.text.substr(0, at), number - static_cast<long>(line.page),
                                line.text.substr(at + size), place));
    at += size;
  }
  return forms;
}

// The two at the top and the two at the bottom of a page.
std::vector<const PdfLine*> outer_lines(const std::vector<PdfLine>& page) {
  constexpr size_t each = 2;
  std::vector<const PdfLine*> lines;
  for (const PdfLine& line : page) lines.push_back(&line);
  std::ranges::stable_sort(lines, {}, &PdfLine::top);
  if (lines.size() > 2 * each) lines.erase(lines.begin() + each, lines.end() - each);
  return lines;
}

using Pages = std::vector<std::vector<PdfLine>>;

std::set<const PdfLine*> running_lines(const Pages& pages) {
  std::map<std::string, size_t> counts;
  for (const auto& page : pages) {
    std::set<std::string> forms;
    for (const PdfLine* line : outer_lines(page))
      for (std::string& form : running_forms(*line)) forms.insert(std::move(form));
    for (const std::string& form : forms) ++counts[form];
  }
  std::set<const PdfLine*> running;
  for (const auto& page : pages) {
    for (const PdfLine* line : outer_lines(page)) {
      const std::vector<std::string> forms = running_forms(*line);
      const auto is_common = [&](const std::string& form) {
        return counts[form] > 2 || (counts[form] == 2 && (form == forms[0] || pages.size() == 2));
      };
      if (std::ranges::any_of(forms, is_common)) running.insert(line);
    }
  }
  return running;
}

}  // namespace

std::vector<PdfLine> pdf_lines(const std::vector<PdfPage>& pages) {
  Pages all;
  for (const PdfPage& page : pages) all.push_back(lines_of(page, all.size()));
  const std::set<const PdfLine*> running = running_lines(all);
  std::vector<PdfLine> lines;
  for (const auto& page : all)
    for (const PdfLine& line : page)
      if (!running.contains(&line)) lines.push_back(line);
  return lines;
}

}  // namespace dragoman::internal
