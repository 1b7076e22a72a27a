#include "document/markdown/pieces.h"

#include <cmark.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <unicode/uchar.h>

#include "base/utf8.h"
#include "document/markdown/text.h"
#include "document/placement/word_links.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using PieceKind = MarkdownPiece::Kind;
using Pieces = std::vector<MarkdownPiece>;

constexpr size_t max_searched = 200;  // bytes of a text in which the word nearest to a mark is searched

// Without content it would be shown as characters.
bool needs_content(const MarkdownPiece& piece) {
  return !emphasis_of(piece.mark).empty() || trimmed(piece.mark->open).of(piece.mark->open) == "~~";
}

Pieces with_white_space_apart(const std::vector<RenderedPiece>& rendered) {
  Pieces pieces;
  const auto add_text = [&](std::string_view text) {
    if (!text.empty()) pieces.push_back({.text = std::string(text)});
  };
  for (const auto& [kind, mark, text] : rendered) {
    const bool is_text = kind == PieceKind::text;
    std::string_view bytes = is_text ? text : kind == PieceKind::close ? mark->close : mark->open;
    if (const size_t size = kind == PieceKind::whole ? line_break_at(bytes) : 0; size > 0) {
      pieces.push_back(
          {.kind = kind, .mark = mark, .text = std::string(bytes.substr(0, size)), .breaks_line = true});
      bytes.remove_prefix(size);
    }
    const TextSpan inner = trimmed(bytes);
    add_text(bytes.substr(0, inner.begin));
    if (inner.begin < inner.end)
      pieces.push_back(
          {.kind = kind, .mark = is_text ? nullptr : mark, .text = std::string(inner.of(bytes))});
    add_text(bytes.substr(inner.end));
  }
  return pieces;
}

bool is_blank(const MarkdownPiece& piece) {
  return piece.breaks_line || (piece.is_text() && is_white_space(piece.text));
}

void move_white_space_out_of_marks(Pieces& pieces) {
  for (size_t i = pieces.size(); i-- > 1;)
    if (pieces[i - 1].kind == PieceKind::open && is_blank(pieces[i])) std::swap(pieces[i - 1], pieces[i]);
  for (size_t i = 1; i < pieces.size(); ++i)
    if (pieces[i].kind == PieceKind::close && is_blank(pieces[i - 1])) std::swap(pieces[i - 1], pieces[i]);
}

std::optional<TextSpan> first_word(std::string_view text) {
  if (text.size() > max_searched) {
    size_t end = max_searched;
    while (end > 0 && is_continuation(text[end])) --end;
    text = text.substr(0, end);
  }
  for (const TextSpan word : words_of(text))
    if (has_letters(word.of(text))) return word;
  return std::nullopt;
}

std::optional<TextSpan> last_word(std::string_view text) {
  size_t begin = text.size() - std::min(text.size(), max_searched);
  while (begin < text.size() && is_continuation(text[begin])) ++begin;
  std::optional<TextSpan> last;
  for (const TextSpan word : words_of(text.substr(begin)))
    if (has_letters(word.of(text.substr(begin)))) last = {begin + word.begin, begin + word.end};
  return last;
}

// Marks of which none of the words are left go around the word beside them, before all after it.
class FilledMarks {
 public:
  explicit FilledMarks(Pieces pieces) : from_(std::move(pieces)) {}

  Pieces fill() {
    while (at_ < from_.size()) {
      const size_t count = empty_marks();
      if (count > 0)
        fill(count);
      else
        to_.push_back(std::move(from_[at_++]));
    }
    return std::move(to_);
  }

 private:
  // How many marks begin here, one inside the other, and end without content.
  size_t empty_marks() const {
    size_t opened = 0, closed = 0;
    while (at_ + opened < from_.size() && from_[at_ + opened].kind == PieceKind::open) ++opened;
    while (closed < opened && at_ + opened + closed < from_.size() &&
           from_[at_ + opened + closed].kind == PieceKind::close)
      ++closed;
    return closed == opened ? opened : 0;
  }

  void fill(size_t count) {
    const auto begin = from_.begin() + static_cast<std::ptrdiff_t>(at_);
    Pieces marks(std::make_move_iterator(begin),
                 std::make_move_iterator(begin + static_cast<std::ptrdiff_t>(2 * count)));
    at_ += 2 * count;
    const bool wanted = std::ranges::any_of(marks, [](const MarkdownPiece& piece) {
      return needs_content(piece) || is_markdown_link(piece.mark);
    });
    MarkdownPiece* const before = !to_.empty() && to_.back().is_text() ? &to_.back() : nullptr;
    MarkdownPiece* const after = at_ < from_.size() && from_[at_].is_text() ? &from_[at_] : nullptr;
    MarkdownPiece word, rest;
    if (const auto next = wanted && after != nullptr ? first_word(after->text) : std::nullopt) {
      to_.push_back({.text = after->text.substr(0, next->begin)});
      word.text = next->of(after->text);
      after->text.erase(0, next->end);
    } else if (const auto last = wanted && before != nullptr ? last_word(before->text) : std::nullopt) {
      rest.text = before->text.substr(last->end);
      word.text = last->of(before->text);
      before->text.resize(last->begin);
    } else {
      std::erase_if(marks, needs_content);
      count = marks.size() / 2;
    }
    marks.insert(marks.begin() + static_cast<std::ptrdiff_t>(count), std::move(word));
    std::ranges::move(marks, std::back_inserter(to_));
    to_.push_back(std::move(rest));
  }

  Pieces from_, to_;
  size_t at_ = 0;
};

bool begins_html_block(std::string_view bytes) {
  if (!bytes.starts_with('<')) return false;
  const std::string line = std::string(bytes) + " x";
  const std::unique_ptr<cmark_node, decltype(&cmark_node_free)> tree(
      cmark_parse_document(line.data(), line.size(), CMARK_OPT_DEFAULT), cmark_node_free);
  return cmark_node_get_type(cmark_node_first_child(tree.get())) == CMARK_NODE_HTML_BLOCK;
}

// Such a line would not be read as Markdown. The tags go behind the first word instead.
void move_html_from_beginning(Pieces& pieces) {
  size_t count = 0;  // with the white space after them
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].kind == PieceKind::whole && begins_html_block(pieces[i].text))
      count = i + 1;
    else if (!is_blank(pieces[i]))
      break;
  }
  if (count == 0) return;
  size_t depth = 0, i = count;
  for (; i < pieces.size(); ++i) {
    if (pieces[i].is_text() && depth == 0 && first_word(pieces[i].text)) break;
    if (pieces[i].kind == PieceKind::open) ++depth;
    if (pieces[i].kind == PieceKind::close) --depth;
  }
  if (i < pieces.size()) {
    const size_t end = first_word(pieces[i].text)->end;
    MarkdownPiece rest = {.text = pieces[i].text.substr(end)};
    pieces[i].text.resize(end);
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(++i), std::move(rest));
  }
  std::rotate(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(count),
              pieces.begin() + static_cast<std::ptrdiff_t>(i));
}

bool is_punctuation(std::string_view text) {
  return std::ranges::all_of(code_points(text),
                             [](char32_t c) { return u_ispunct(static_cast<UChar32>(c)) != 0; });
}

// Where all that is left of an emphasis is the punctuation behind its words, it goes around the word before that.
void move_from_punctuation_to_words(Pieces& pieces, std::string_view source) {
  for (size_t i = 1; i + 2 < pieces.size(); ++i) {
    if (pieces[i].kind != PieceKind::open || emphasis_of(pieces[i].mark).empty() ||
        !pieces[i - 1].is_text() || !pieces[i + 1].is_text() || !is_punctuation(pieces[i + 1].text) ||
        pieces[i + 2].kind != PieceKind::close || !has_letters(pieces[i].mark->place.of(source)))
      continue;
    std::string& before = pieces[i - 1].text;
    const std::optional<TextSpan> word = last_word(before);
    if (!word || word->end < before.size()) continue;
    MarkdownPiece punctuation = {.text = std::exchange(pieces[i + 1].text, std::string(word->of(before)))};
    before.resize(word->begin);
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(i) + 3, std::move(punctuation));
  }
  merge_texts(pieces);
}

void trim_around_line_breaks(Pieces& pieces) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].breaks_line) continue;
    if (i > 0 && pieces[i - 1].is_text()) pieces[i - 1].text.resize(trimmed(pieces[i - 1].text).end);
    if (i + 1 < pieces.size() && pieces[i + 1].is_text())
      pieces[i + 1].text.erase(0, trimmed(pieces[i + 1].text).begin);
  }
  merge_texts(pieces);
}

// Written as <br> where it would not be a line break: at an end of its paragraph, behind another one, before what
// begins a block of HTML, and where a tag would be alone on the first line.
void write_line_breaks_as_tags(Pieces& pieces) {
  const auto shows = [](const MarkdownPiece& piece) {
    return !is_blank(piece) &&
           (piece.is_text() || (piece.kind == PieceKind::whole && !piece.text.starts_with('<')));
  };
  bool words_before = false;
  for (size_t i = 0; i < pieces.size(); ++i) {
    words_before |= shows(pieces[i]);
    if (!pieces[i].breaks_line) continue;
    const auto after = pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto end =
        std::find_if(after, pieces.end(), [](const MarkdownPiece& piece) { return piece.breaks_line; });
    const bool html_after = after != pieces.end() && begins_html_block(after->text);
    if (!words_before || html_after || std::none_of(after, end, shows)) {
      pieces[i].breaks_line = false;
      pieces[i].text = "<br>";
    }
    words_before &= !pieces[i].breaks_line;
  }
}

// An emphasis that ends after a line break, or began before one: where the words around it do not allow that, it begins
// before the first word, or ends after the last one.
void move_halves(Pieces& pieces, DocumentMark::Half half) {
  const auto is_half = [&](const MarkdownPiece& piece) {
    return piece.kind == PieceKind::whole && piece.mark->half == half && !emphasis_of(piece.mark).empty();
  };
  const auto is_apart = [&](size_t i, bool on_right) {
    if (i >= pieces.size()) return true;
    const TextSpan words = trimmed(pieces[i].text);
    return pieces[i].is_text() && (on_right ? words.begin > 0 : words.end < pieces[i].text.size());
  };
  const bool opens = half == DocumentMark::Half::open;
  bool allowed = true;
  for (size_t i = 0; i < pieces.size(); ++i)
    if (is_half(pieces[i])) allowed &= is_apart(i - 1, false) == opens && is_apart(i + 1, true) != opens;
  if (!allowed)
    std::stable_partition(pieces.begin(), pieces.end(),
                          [&](const auto& piece) { return is_half(piece) == opens; });
  const auto first = std::ranges::find_if(pieces, is_half);
  if (first == pieces.end()) return;
  Pieces others;
  for (MarkdownPiece& piece : pieces) {
    if (!is_half(piece)) continue;
    piece.kind = opens ? PieceKind::open : PieceKind::close;
    others.push_back({.kind = opens ? PieceKind::close : PieceKind::open,
                      .mark = piece.mark,
                      .text = piece.text,
                      .elsewhere = true});
  }
  std::ranges::reverse(others);
  pieces.insert(opens ? pieces.end() : pieces.begin(), others.begin(), others.end());
}

}  // namespace

std::string_view emphasis_of(const DocumentMark* mark) {
  const bool is_half = mark != nullptr && mark->half != DocumentMark::Half::none;
  if (mark == nullptr || (mark->kind != DocumentMark::Kind::span && !is_half)) return {};
  const std::string_view open = trimmed(mark->open).of(mark->open);
  return open == "*" || open == "**" || open == "_" || open == "__" ? open : std::string_view();
}

bool is_markdown_link(const DocumentMark* mark) {
  return mark != nullptr && mark->kind == DocumentMark::Kind::span && mark->open.starts_with('[');
}

void merge_texts(Pieces& pieces) {
  size_t count = 0;
  for (MarkdownPiece& piece : pieces) {
    if (piece.is_text() && piece.text.empty()) continue;
    if (piece.is_text() && count > 0 && pieces[count - 1].is_text())
      pieces[count - 1].text += piece.text;
    else if (&piece != &pieces[count++])
      pieces[count - 1] = std::move(piece);
  }
  pieces.resize(count);
}

std::vector<MarkdownPiece> arranged(const std::vector<RenderedPiece>& rendered, std::string_view source) {
  Pieces pieces = with_white_space_apart(rendered);
  trim_around_line_breaks(pieces);
  move_white_space_out_of_marks(pieces);
  trim_around_line_breaks(pieces);
  write_line_breaks_as_tags(
      pieces);  // before marks are filled, for which a tag is content, and a break is not
  move_from_punctuation_to_words(pieces, source);
  pieces = FilledMarks(std::move(pieces)).fill();
  move_halves(pieces, DocumentMark::Half::open);
  move_halves(pieces, DocumentMark::Half::close);
  move_html_from_beginning(pieces);
  write_line_breaks_as_tags(pieces);
  merge_texts(pieces);
  return pieces;
}

}  // namespace dragoman::internal
