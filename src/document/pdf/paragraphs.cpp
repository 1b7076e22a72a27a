#include "document/pdf/paragraphs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "base/ascii.h"
#include "document/segments/inline_text.h"
#include "text/scripts.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// Of the font's size.
constexpr double usual_pitch = 1.2, visible_indent = 0.8, space_width = 0.3, overhang = 2, gutter = 1.5;

char32_t first_of(std::string_view text) {
  const std::u32string all = code_points(text.substr(0, 8));
  return all.empty() ? U' ' : all.front();
}

char32_t last_of(std::string_view text) {
  const std::u32string all = code_points(text.substr(text.size() - std::min<size_t>(text.size(), 8)));
  return all.empty() ? U' ' : all.back();
}

bool same_size(const PdfLine& a, const PdfLine& b) { return std::abs(a.size - b.size) < 0.1 * a.size; }

double pitch(const PdfLine& above, const PdfLine& below) {
  return (below.bottom - above.bottom) / above.size;
}

bool begins_with_bullet(std::string_view text) {
  constexpr std::u32string_view bullets = U"•‣◦▪■●○–—*";
  if (text.starts_with('-')) return text.size() > 1;  // an option's name, too
  const std::string_view word = text.substr(0, text.find(' '));
  return word.size() < text.size() && code_point_count(word) == 1 &&
         bullets.find(first_of(text)) != bullets.npos;
}

// "1.", "(a)", "iv)".
bool begins_with_number(std::string_view text) {
  const std::string_view word = text.substr(0, text.find(' '));
  if (word.empty() || word.size() == text.size() || word.size() > 5 ||
      (word.back() != '.' && word.back() != ')'))
    return false;
  const std::string_view inner = stripped(word, "().");
  return !inner.empty() && (std::ranges::all_of(inner, [](char c) { return is_digit(c) || c == '.'; }) ||
                            inner.size() == 1 || inner.find_first_not_of("ivx") == inner.npos);
}

bool is_item(std::string_view text) { return begins_with_bullet(text) || begins_with_number(text); }

// How far apart the lines of a paragraph are: the median of lines of one size below each other.
double typical_pitch(const std::vector<PdfLine>& lines) {
  std::vector<double> pitches;
  for (size_t i = 1; i < lines.size(); ++i) {
    const PdfLine &above = lines[i - 1], &below = lines[i];
    if (above.page == below.page && below.is_below(above) && same_size(above, below) &&
        pitch(above, below) < 2.5)
      pitches.push_back(pitch(above, below));
  }
  if (pitches.empty()) return usual_pitch;
  const auto middle = pitches.begin() + static_cast<std::ptrdiff_t>(pitches.size() / 2);
  std::ranges::nth_element(pitches, middle);
  return *middle;
}

// Of each line, how far the lines of its column reach: of those of one size below each other.
std::vector<double> right_margins(const std::vector<PdfLine>& lines) {
  std::vector<double> margins(lines.size());
  for (size_t begin = 0; begin < lines.size();) {
    size_t end = begin + 1;
    double margin = lines[begin].right;
    for (; end < lines.size(); ++end) {
      const PdfLine &above = lines[end - 1], &below = lines[end];
      const bool beside = below.left > margin || below.right < lines[begin].left;
      if (above.page != below.page || !below.is_below(above) || !same_size(above, below) || beside) break;
      margin = std::max(margin, below.right);
    }
    std::fill(margins.begin() + static_cast<std::ptrdiff_t>(begin),
              margins.begin() + static_cast<std::ptrdiff_t>(end), margin);
    begin = end;
  }
  return margins;
}

// Of each line, where another one stands beside it, in the next column.
std::vector<double> next_columns(const std::vector<PdfLine>& lines) {
  constexpr size_t many = 2000;  // of a page; there are no columns on it
  std::vector<double> columns(lines.size(), std::numeric_limits<double>::infinity());
  for (size_t begin = 0, end = 0; begin < lines.size(); begin = end) {
    while (end < lines.size() && lines[end].page == lines[begin].page) ++end;
    if (end - begin > many) continue;
    for (size_t i = begin; i < end; ++i)
      for (size_t j = begin; j < end; ++j)
        if (lines[j].top < lines[i].bottom && lines[i].top < lines[j].bottom &&
            lines[j].left > lines[i].right)
          columns[i] = std::min(columns[i], lines[j].left);
  }
  return columns;
}

// Words of the text, without those that a line divides.
std::set<std::string, std::less<>> whole_words(const std::vector<PdfLine>& lines) {
  std::set<std::string, std::less<>> words;
  for (const PdfLine& line : lines) {
    std::string_view rest = std::string_view(line.text).substr(0, line.text.rfind(' '));
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(' '), rest.size());
      words.insert(in_lower_case(stripped(rest.substr(0, end), ".,;:!?()\"'")));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return words;
}

class ParagraphMaker {
 public:
  explicit ParagraphMaker(const std::vector<PdfLine>& lines)
      : lines_(lines),
        pitch_(typical_pitch(lines)),
        margins_(right_margins(lines)),
        columns_(next_columns(lines)),
        words_(whole_words(lines)) {}

  std::vector<std::string> paragraphs() && {
    std::vector<std::string> made;
    size_t begin = 0;  // of the paragraph
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (i == 0 || !continues(i, begin)) {
        begin = i;
        made.push_back(lines_[i].text);
      } else {
        append(made.back(), lines_[i].text);
      }
    }
    return made;
  }

 private:
  // Whether a line belongs to the paragraph of the line before it, which has begun at this line.
  bool continues(size_t i, size_t begin) const {
    const PdfLine &above = lines_[i - 1], &line = lines_[i];
    if (!same_size(above, line) || above.is_entry || begins_with_bullet(line.text)) return false;
    const bool ends = ends_with_sentence_mark(above.text) || above.text.ends_with(':');
    if (begins_with_number(line.text) && (ends || is_item(lines_[begin].text))) return false;
    if (above.page != line.page || !line.is_below(above) || line.left > above.right ||
        line.right < above.left)
      return !ends &&
             (is_lower(first_of(line.text)) || last_of(above.text) == U'-');  // the next column, or page
    if (pitch(above, line) > 1.3 * pitch_) return false;
    const double indent = (line.left - above.left) / line.size;
    const bool centred = std::abs(indent) > visible_indent &&
                         std::abs(line.left + line.right - above.left - above.right) < line.size;
    if (centred) return true;
    const bool is_second = i == begin + 1;
    if (indent > visible_indent && !(is_second && is_item(above.text))) return false;
    if (indent < -visible_indent && !is_second) return false;
    const double slack = !ends && is_lower(first_of(line.text)) ? overhang : space_width;
    const double margin = std::min(margins_[i - 1], columns_[i - 1] - gutter * line.size);
    return margin - above.right < line.first_width + slack * line.size;  // the line was full
  }

  void append(std::string& text, std::string_view line) const {
    constexpr std::string_view soft_hyphen = "\u00AD", hyphen = "\u2010";
    const bool is_soft = text.ends_with(soft_hyphen);
    if (is_soft) text.resize(text.size() - soft_hyphen.size());
    if (text.ends_with(hyphen)) text.replace(text.size() - hyphen.size(), hyphen.size(), "-");
    const std::string_view before =
        std::string_view(text).substr(0, text.size() - (text.ends_with('-') ? 1 : 0));
    if (text.ends_with('-') && is_letter(last_of(before)) && is_lower(first_of(line))) {
      if (!has_hyphen(before, line)) text.pop_back();
    } else if (!is_soft && !(is_of_unspaced_script(last_of(text)) && is_of_unspaced_script(first_of(line)))) {
      text += ' ';
    }
    text += line;
  }

  // Whether the word that two lines share has a hyphen elsewhere, too.
  bool has_hyphen(std::string_view before, std::string_view line) const {
    const std::string_view begin = before.substr(before.rfind(' ') + 1), end = line.substr(0, line.find(' '));
    const auto word = [&](std::string_view sign) {
      return in_lower_case(stripped(std::string(begin).append(sign).append(end), ".,;:!?()\"'"));
    };
    return words_.contains(word("-")) && !words_.contains(word(""));
  }

  const std::vector<PdfLine>& lines_;
  double pitch_;
  std::vector<double> margins_, columns_;
  std::set<std::string, std::less<>> words_;
};

}  // namespace

std::vector<std::string> pdf_paragraphs(const std::vector<PdfLine>& lines) {
  return ParagraphMaker(lines).paragraphs();
}

}  // namespace dragoman::internal
