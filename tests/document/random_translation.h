// Translations at random, linked to random words of the text: whatever a model may return, and worse.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "document/document.h"
#include "document/projection.h"

namespace dragoman::internal {

struct RandomTranslation {
  std::string text;
  std::vector<TextLink> links;
};

// Of the words that must come out as they are most do.
inline RandomTranslation random_translation(const DocumentSegment& segment, Random& random,
                                            const std::vector<std::string>& words) {
  std::vector<std::string> parts;
  for (size_t i = 0, count = 1 + random.below(8); i < count; ++i)
    parts.push_back(words[random.below(words.size())]);
  for (const DocumentMark& mark : segment.marks) {
    const std::string fixed = segment.text.substr(mark.place.begin, mark.place.end - mark.place.begin);
    if (mark.kind == DocumentMark::Kind::fixed && random.below(4) > 0)
      parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(random.below(parts.size() + 1)), fixed);
  }
  RandomTranslation translation;
  for (const std::string& part : parts)
    translation.text += (translation.text.empty() || random.below(6) == 0 ? "" : " ") + part;
  const std::vector<TextSpan> from = words_of(segment.text), to = words_of(translation.text);
  for (size_t i = 0, count = random.below(2 * to.size() + 1); i < count; ++i)
    translation.links.push_back({from[random.below(from.size())], to[random.below(to.size())]});
  return translation;
}

}  // namespace dragoman::internal
