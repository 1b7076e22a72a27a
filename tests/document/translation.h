// Translations for tests of formats: every word changes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"
#include "document/in_place.h"
#include "document/projection.h"

namespace dragoman::internal {

// Word for word.
inline std::string in_upper_case(const Document& document) {
  std::vector<std::string> rendered;
  for (const DocumentSegment& segment : document.segments) {
    std::vector<TextLink> links;
    for (const TextSpan& word : words_of(segment.text)) links.push_back({word, word});
    rendered.push_back(render(segment, upper_case(segment.text), links));
  }
  return document.write(rendered);
}

// Sentences of other words and another length, whose alignment is unknown.
inline std::string in_other_words(const Document& document) {
  std::vector<std::string> rendered;
  for (size_t i = 0; i < document.segments.size(); ++i)
    rendered.push_back(render(document.segments[i], "T" + std::to_string(i) + " <translated> & changed", {}));
  return document.write(rendered);
}

}  // namespace dragoman::internal
