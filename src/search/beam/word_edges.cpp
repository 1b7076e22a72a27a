#include "search/beam/word_edges.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "text/scripts.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr char32_t word_mark = U'▁';
constexpr std::u32string_view closing_marks = U".,;:!?)]}";

}  // namespace

WordEdges::Kind WordEdges::kind_of(char32_t c) {
  if (c == word_mark || is_space(c)) return Kind::space;
  if (is_hangul(c)) return Kind::hangul;
  if (is_combining(c)) return Kind::mark;
  if (is_of_unspaced_script(c)) return Kind::unspaced;
  if (closing_marks.find(c) != closing_marks.npos) return Kind::closing;
  return is_letter(c) || is_number(c) ? Kind::letter : Kind::other;
}

WordEdges::Edge WordEdges::edge_of(const Vocabulary& vocabulary, int32_t id) const {
  if (id == vocabulary.special().end) return {Kind::end, Kind::end, Kind::end};
  if (id == vocabulary.special().unknown) return {Kind::letter, Kind::letter, Kind::letter};
  if (vocabulary.is_special(id)) return {Kind::nothing, Kind::nothing, Kind::nothing};
  if (const auto byte = vocabulary.byte_of(id)) return {Kind::byte, Kind::byte, Kind::byte, *byte};
  const std::u32string points = code_points(vocabulary.piece(id));
  if (points.empty()) return {Kind::nothing, Kind::nothing, Kind::nothing};
  const bool marked = points.size() > 1 && points[0] == word_mark;
  return {kind_of(points.front()), kind_of(points.back()), kind_of(points[marked ? 1 : 0])};
}

WordEdges::WordEdges(const Vocabulary& vocabulary) {
  edges_.reserve(static_cast<size_t>(vocabulary.size()));
  for (int32_t id = 0; id < vocabulary.size(); ++id) edges_.push_back(edge_of(vocabulary, id));
}

bool WordEdges::joins(int32_t left, int32_t right) const {
  if (left < 0) return false;
  const Kind before = edges_[static_cast<size_t>(left)].last,
             after = edges_[static_cast<size_t>(right)].first;
  if (before == Kind::space || after == Kind::end) return false;
  if (after == Kind::nothing) return true;
  if (after == Kind::mark || after == Kind::byte) return true;
  if (after != Kind::letter && after != Kind::hangul) return false;
  if (before == Kind::hangul) return after == Kind::letter;
  return before == Kind::letter || before == Kind::mark || before == Kind::byte || before == Kind::nothing;
}

bool WordEdges::joins_letters(int32_t left, int32_t right) const {
  const Kind after = edges_[static_cast<size_t>(right)].first;
  return (after == Kind::letter || after == Kind::hangul || after == Kind::mark) && joins(left, right);
}

bool WordEdges::end_inside_character(std::span<const int32_t> tokens) const {
  std::string bytes;
  for (const int32_t token : tokens.last(std::min<size_t>(tokens.size(), 3)))
    bytes += edges_[static_cast<size_t>(token)].byte;
  return unfinished_bytes(bytes) > 0;
}

bool WordEdges::may_begin(int32_t left, int32_t right) const {
  if (left < 0) return true;
  const Kind before = edges_[static_cast<size_t>(left)].last;
  const Edge& after = edges_[static_cast<size_t>(right)];
  if (after.first == Kind::space)
    return before == Kind::nothing || before == Kind::space ||
           (after.begins != Kind::unspaced && before != Kind::unspaced);
  if (before == Kind::hangul && after.first == Kind::hangul) return false;
  if (before == Kind::closing && (after.first == Kind::letter || after.first == Kind::hangul)) return false;
  return before != Kind::byte && !joins(left, right);
}

}  // namespace dragoman::internal
