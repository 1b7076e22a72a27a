// A translation that keeps every word where it is: what a format makes of marks, without their projection.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

inline std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return upper;
}

// Writes the segment with this text, which is as long as its own, and its marks exactly in their places.
inline std::string render_in_place(const DocumentSegment& segment, const std::string& text) {
  std::string out;
  size_t at = 0;
  std::vector<const DocumentMark*> open;
  const auto write_to = [&](size_t end) {
    if (end <= at) return;
    const std::string stretch = text.substr(at, end - at);
    out += open.empty() ? segment.text_open : open.back()->text_open;
    out += segment.escape != nullptr ? segment.escape(stretch) : stretch;
    out += open.empty() ? segment.text_close : open.back()->text_close;
    at = end;
  };
  const auto close_to = [&](size_t depth) {
    for (; open.size() > depth; open.pop_back()) {
      write_to(open.back()->place.end);
      out += open.back()->close;
    }
  };
  for (const DocumentMark& mark : segment.marks) {
    close_to(mark.depth);
    write_to(mark.place.begin);
    out += mark.open;
    at = mark.kind == DocumentMark::Kind::span ? at : mark.place.end;
    if (mark.kind == DocumentMark::Kind::span) open.push_back(&mark);
  }
  close_to(0);
  write_to(text.size());
  return out;
}

inline std::string in_capitals(const Document& document) {
  std::vector<std::string> rendered;
  for (const DocumentSegment& segment : document.segments)
    rendered.push_back(render_in_place(segment, upper_case(segment.text)));
  return document.write(rendered);
}

}  // namespace dragoman::internal
