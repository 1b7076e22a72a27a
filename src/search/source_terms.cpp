#include "search/source_terms.h"

#include <algorithm>

#include "text/term_marks.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

TextSpan text_of(const Segment& segment) {
  TextSpan text = {SIZE_MAX, 0};
  for (const TextSpan& span : segment.spans)
    if (span.begin < span.end) text = {std::min(text.begin, span.begin), std::max(text.end, span.end)};
  return text;
}

// How many of them the segment has then.
size_t add_terms(std::vector<TermInText> terms, size_t most, const Vocabulary& vocabulary, Segment& segment) {
  const int32_t begin_mark = term_marks(vocabulary)->begin;
  for (; !terms.empty(); terms.pop_back()) {
    PiecesOfText pieces = with_terms({segment.ids, segment.spans}, terms, vocabulary);
    if (pieces.ids.size() > most) continue;
    segment.ids = std::move(pieces.ids);
    segment.spans = std::move(pieces.spans);
    return static_cast<size_t>(std::ranges::count(segment.ids, begin_mark));
  }
  return 0;
}

}  // namespace

bool add_to_sources(std::vector<GivenTerm> terms, std::string_view line, const SavedModel& model,
                    std::vector<Segment>& segments) {
  std::ranges::sort(terms, [](const GivenTerm& a, const GivenTerm& b) {
    return a.source.begin != b.source.begin ? a.source.begin < b.source.begin : a.source.end > b.source.end;
  });
  const std::vector<size_t> offsets = code_point_offsets(line);
  const SourceReader& reader = model.readers[0];
  size_t added = 0;
  for (Segment& segment : segments) {
    const TextSpan text = text_of(segment);
    std::vector<TermInText> inside;
    for (const GivenTerm& term : terms) {
      const TextSpan bytes = {offsets.at(term.source.begin), offsets.at(term.source.end)};
      if (text.begin <= bytes.begin && bytes.end <= text.end) inside.push_back({bytes, term.targets.at(0)});
    }
    const auto frame =
        std::ranges::count_if(segment.spans, [](TextSpan span) { return span.begin == span.end; });
    added += add_terms(std::move(inside), static_cast<size_t>(reader.max_length + frame), *reader.vocabulary,
                       segment);
  }
  return added == terms.size();
}

}  // namespace dragoman::internal
