// Stretches of a text: where its words and its pieces stand.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace dragoman {

// [begin, end): bytes of UTF-8, or code points, as whoever gives it says.
struct TextSpan {
  size_t begin = 0, end = 0;

  bool operator==(const TextSpan&) const = default;
};

// Spans of bytes as spans of code points, which is what users count in. White space around them is left out.
std::vector<TextSpan> in_code_points(std::string_view utf8, const std::vector<TextSpan>& bytes);

// The words between white space, in code points.
std::vector<TextSpan> word_spans(std::string_view utf8);

// The number of the first of these words that a span shares a code point with; −1: none.
std::ptrdiff_t word_at(const std::vector<TextSpan>& words, TextSpan span);

}  // namespace dragoman
