#include "text/folding.h"

#include <algorithm>
#include <string>
#include <vector>

#include <unicode/utf8.h>

namespace dragoman::internal {
namespace {

// Empty: there is none.
std::string_view plainer(UChar32 c) {
  switch (c) {
    case U'‘':
    case U'’':
    case U'‚':
    case U'‛':
    case U'‹':
    case U'›':
    case U'′':
    case U'ʼ':
    case U'`':
      return "'";
    case U'“':
    case U'”':
    case U'„':
    case U'‟':
    case U'«':
    case U'»':
    case U'″':
      return "\"";
    case U'‐':
    case U'\u2011':  // no-break hyphen
    case U'‒':
    case U'–':
    case U'—':
    case U'―':
    case U'−':
      return "-";
    case U'…':
      return "...";
    case U'\u00A0':  // no-break spaces
    case U'\u2007':
    case U'\u2009':
    case U'\u202F':
      return " ";
    default:
      return "";
  }
}

// A text, and the bytes of the original that each of its bytes stands for.
struct Folded {
  std::string text = {};
  std::vector<TextSpan> origins = {};
  bool changed = false;

  void add(std::string_view bytes, TextSpan origin) {
    text += bytes;
    origins.insert(origins.end(), bytes.size(), origin);
  }

  // White space that the vocabulary does not see may be at both ends.
  TextSpan original(TextSpan span) const {
    const auto begin_at = [&](size_t at) {
      return at < origins.size() ? origins[at].begin : origins.back().end;
    };
    return {begin_at(span.begin), span.begin < span.end ? origins[span.end - 1].end : begin_at(span.end)};
  }
};

Folded fold(std::string_view text, const PiecesOfText& pieces, int32_t unknown) {
  Folded folded;
  size_t piece = 0;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    UChar32 c;
    U8_NEXT(text.data(), end, text.size(), c);
    while (piece < pieces.ids.size() && pieces.spans[piece].end <= begin) ++piece;
    const bool is_unknown = piece < pieces.ids.size() && pieces.ids[piece] == unknown;
    const std::string_view plain = is_unknown ? plainer(c) : "";
    folded.changed |= !plain.empty();
    folded.add(plain.empty() ? text.substr(begin, end - begin) : plain, {begin, end});
  }
  return folded;
}

}  // namespace

PiecesOfText encode_folded(std::string_view text, const Vocabulary& vocabulary) {
  PiecesOfText pieces = vocabulary.encode_with_spans(text);
  const int32_t unknown = vocabulary.special().unknown;
  if (std::ranges::count(pieces.ids, unknown) == 0) return pieces;
  const Folded folded = fold(text, pieces, unknown);
  if (!folded.changed) return pieces;
  pieces = vocabulary.encode_with_spans(folded.text);
  for (TextSpan& span : pieces.spans) span = folded.original(span);
  return pieces;
}

}  // namespace dragoman::internal
