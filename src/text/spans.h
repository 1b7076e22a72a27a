// Spans of text: the positions of its words and subwords.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace dragoman::internal {

// [begin, end) in bytes of UTF-8 or in code points, as each function says.
struct TextSpan {
  size_t begin = 0, end = 0;

  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }

  bool operator==(const TextSpan&) const = default;
};

// Converts spans of bytes to spans of code points, in which users count, without surrounding white space.
std::vector<TextSpan> in_code_points(std::string_view utf8, const std::vector<TextSpan>& bytes);

// The words separated by white space, in code points.
std::vector<TextSpan> word_spans(std::string_view utf8);

// The index of the first word that overlaps a span; −1: none.
std::ptrdiff_t word_at(const std::vector<TextSpan>& words, TextSpan span);

}  // namespace dragoman::internal
