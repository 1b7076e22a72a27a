#include "text/term_marks.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman::internal {
namespace {

void add(int32_t id, TextSpan span, PiecesOfText& pieces) {
  pieces.ids.push_back(id);
  pieces.spans.push_back(span);
}

// [begin, end) of the pieces that overlap these bytes.
std::pair<size_t, size_t> pieces_of(TextSpan bytes, const PiecesOfText& pieces, size_t from) {
  const auto overlaps = [&](TextSpan span) { return span.begin < bytes.end && bytes.begin < span.end; };
  size_t begin = from;
  while (begin < pieces.spans.size() && !overlaps(pieces.spans[begin])) ++begin;
  size_t end = begin;
  while (end < pieces.spans.size() && overlaps(pieces.spans[end])) ++end;
  return {begin, end};
}

}  // namespace

std::optional<TermMarks> term_marks(const Vocabulary& vocabulary) {
  const TermMarks marks = {vocabulary.id(term_begin_name), vocabulary.id(term_is_name),
                           vocabulary.id(term_end_name)};
  for (const int32_t id : {marks.begin, marks.is, marks.end})
    if (id == vocabulary.special().unknown || !vocabulary.is_special(id)) return {};
  return marks;
}

PiecesOfText with_terms(const PiecesOfText& pieces, std::span<const TermInText> terms,
                        const Vocabulary& vocabulary) {
  const std::optional<TermMarks> marks = term_marks(vocabulary);
  CHECK(marks.has_value());
  PiecesOfText result;
  size_t done = 0;
  const auto copy_to = [&](size_t end) {
    for (; done < end; ++done) add(pieces.ids[done], pieces.spans[done], result);
  };
  for (const TermInText& term : terms) {
    if (done > 0 && pieces.spans[done - 1].end > term.source.begin) continue;
    auto [begin, end] = pieces_of(term.source, pieces, done);
    if (begin == end) continue;
    if (begin > done && vocabulary.piece(pieces.ids[begin - 1]) == "▁")
      --begin;  // it belongs to the word behind it
    copy_to(begin);
    add(marks->begin, {term.source.begin, term.source.begin}, result);
    copy_to(end);
    add(marks->is, {term.source.end, term.source.end}, result);
    for (const int32_t id : vocabulary.encode(term.target)) add(id, term.source, result);
    add(marks->end, {term.source.end, term.source.end}, result);
  }
  copy_to(pieces.ids.size());
  return result;
}

}  // namespace dragoman::internal
