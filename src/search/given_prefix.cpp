#include "search/given_prefix.h"

#include <algorithm>

#include "text/sentences.h"

namespace dragoman::internal {
namespace {

// As many as the line has at most, the last one with all that is left over.
std::vector<SentencePart> parts_of(std::string_view prefix, size_t sentences, std::string_view language) {
  std::vector<SentencePart> parts = split_sentences(prefix, language);
  if (parts.size() <= sentences) return parts;
  SentencePart& last = parts[sentences - 1];
  last = {{last.sentence.begin(), parts.back().sentence.end()}, parts.back().space};
  parts.resize(sentences);
  return parts;
}

}  // namespace

GivenPrefix prefixes_of_segments(std::string_view prefix, const std::vector<Segment>& segments,
                                 const Vocabulary& target, std::string_view language) {
  GivenPrefix given = {.of_segments = std::vector<std::vector<int32_t>>(segments.size())};
  if (segments.empty()) return given;
  const size_t sentences = segments.back().sentence + 1;
  const std::vector<SentencePart> parts = parts_of(prefix, sentences, language);
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto begin = std::ranges::find(segments, i, &Segment::sentence);
    const bool is_cut = begin + 1 < segments.end() && (begin + 1)->sentence == i;
    const auto segment = static_cast<size_t>(begin - segments.begin());
    std::vector<int32_t>& own = given.of_segments[segment];
    own = target.encode(parts[i].sentence);
    const bool followed = i + 1 < parts.size() ||
                          (i + 1 < sentences && !parts[i].space.empty() && ends_sentence(parts[i].sentence));
    const bool whole = followed && !is_cut && target.special().end >= 0;
    if (whole) own.push_back(target.special().end);
    given.ends_in = whole ? segment + 1 : segment;
  }
  return given;
}

}  // namespace dragoman::internal
