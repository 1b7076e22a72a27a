// A translator that knows nothing: it keeps some words, in another order, and makes up others, with all that could be
// taken for markup.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "document/document.h"
#include "document/projection.h"
#include "document/repair.h"

namespace dragoman::internal {

inline TranslatedText in_random_words(const DocumentSegment& segment, Random& random) {
  static const std::vector<std::string> others = {
      "mot", "50%", "%",   "%d",  "%s", "% d", "{", "}", "{x}", "{0}", "l'été", "'", "\"",  "\\", "~a", "$x",
      "%1",  "&",   "<b>", "a:b", "#",  "- x", "=", ",", "*",   "_a_", "`",     "|", "[x]", "😀",  ".",  "!"};
  std::vector<std::string> directives;
  for (const DocumentMark& mark : segment.marks)
    if (mark.touches) directives.emplace_back(mark.place.of(segment.text));
  const std::vector<TextSpan> words = words_of(segment.text, directives);
  TranslatedText translation;
  for (uint64_t n = 1 + random.below(words.size() + 3); n > 0; --n) {
    if (!translation.text.empty() && random.below(4) > 0) translation.text += ' ';
    const size_t begin = translation.text.size();
    if (random.below(2) == 0) {
      translation.text += others[random.below(others.size())];
    } else {
      const TextSpan word = words[random.below(words.size())];
      translation.text += word.of(segment.text);
      translation.links.push_back({word, {begin, translation.text.size()}});
    }
  }
  repair_placeholders(segment.text, translation);
  const TextSpan inner = trimmed(translation.text);
  if (inner.end < translation.text.size()) translation.text.resize(inner.end);
  if (translation.text.empty()) translation.text = "mot";
  return translation;
}

inline std::string in_random_words(const Document& document, uint64_t seed) {
  Random random(seed);
  std::vector<std::string> rendered;
  for (const DocumentSegment& segment : document.segments) {
    const TranslatedText translation = in_random_words(segment, random);
    rendered.push_back(render(segment, translation.text, translation.links));
  }
  return document.write(rendered);
}

}  // namespace dragoman::internal
