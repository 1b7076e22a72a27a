#include "text/spans.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "text/unicode.h"

namespace dragoman::internal {

std::vector<TextSpan> in_code_points(std::string_view utf8, const std::vector<TextSpan>& bytes) {
  std::vector<size_t> numbers = {0};  // of code points that begin before each byte
  for (const char byte : utf8) numbers.push_back(numbers.back() + (is_continuation(byte) ? 0 : 1));
  const std::u32string points = code_points(utf8);
  std::vector<TextSpan> spans;
  for (const TextSpan& span : bytes) {
    TextSpan found = {numbers[span.begin], numbers[span.end]};
    while (found.begin < found.end && is_space(points[found.begin])) ++found.begin;
    while (found.begin < found.end && is_space(points[found.end - 1])) --found.end;
    spans.push_back(found);
  }
  return spans;
}

std::vector<TextSpan> word_spans(std::string_view utf8) {
  const std::u32string points = code_points(utf8);
  std::vector<TextSpan> spans;
  for (const std::u32string_view word : split_words(points)) {
    const auto begin = static_cast<size_t>(word.data() - points.data());
    spans.push_back({begin, begin + word.size()});
  }
  return spans;
}

std::ptrdiff_t word_at(const std::vector<TextSpan>& words, TextSpan span) {
  if (span.begin == span.end) return -1;
  const auto word = std::ranges::upper_bound(words, span.begin, {}, &TextSpan::end);
  return word != words.end() && word->begin < span.end ? word - words.begin() : -1;
}

}  // namespace dragoman::internal
