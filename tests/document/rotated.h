// A translator that changes every word and nothing else: it replaces each letter of a to z by the one 13 places on.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "document/identity.h"
#include "document/in_place.h"

namespace dragoman::internal {

inline std::string rotated(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>('a' + (c - 'a' + 13) % 26);
    if (c >= 'A' && c <= 'Z') c = static_cast<char>('A' + (c - 'A' + 13) % 26);
  }
  return result;
}

inline std::string rotation_of(const Document& document) {
  std::vector<std::string> rendered;
  for (const DocumentSegment& segment : document.segments)
    rendered.push_back(render_in_place(segment, rotated(segment.text)));
  return document.write(rendered);
}

inline std::vector<std::string> texts_of(const Document& document) {
  std::vector<std::string> texts;
  for (const DocumentSegment& segment : document.segments) texts.push_back(segment.text);
  return texts;
}

}  // namespace dragoman::internal
