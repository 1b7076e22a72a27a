#include "document/segments/stretch.h"

#include <algorithm>
#include <span>
#include <utility>

#include <unicode/utf8.h>

#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using MarkupKind = MarkupItem::Kind;
using Half = DocumentMark::Half;

// Where the text from `begin` on ends, without white space.
size_t end_of_words(std::string_view text, size_t begin) {
  return text.size() - trailing_space(text.substr(begin));
}

// The items from the first word to the last. Tags around them are left out where both of a pair are.
ItemRange range_of_words(const MarkupStretch& stretch, ItemRange all, bool tags_around) {
  const std::vector<MarkupItem>& items = stretch.items;
  const auto shows = [&](size_t i) {
    return items[i].kind == MarkupKind::fixed || !is_white_space(text_of(stretch, items[i]));
  };
  size_t first = all.begin, last = all.end - 1;
  while (!shows(first)) ++first;
  while (!shows(last)) --last;
  ItemRange range = {first, last + 1};
  // Tags that a translation rewrites must not stay outside as well.
  for (size_t i = all.begin; i < range.begin; ++i) {
    const bool reaches_in = items[i].kind == MarkupKind::open && items[i].partner > first &&
                            (items[i].partner <= last || (tags_around && items[i].partner < all.end));
    if (reaches_in || items[i].written) range.begin = i;
  }
  for (size_t i = all.end; i-- > range.end;) {
    const bool reaches_in =
        items[i].kind == MarkupKind::close && items[i].partner > first && items[i].partner <= last;
    if (reaches_in || items[i].written) range.end = i + 1;
  }
  for (size_t i = range.begin; i < first; ++i)
    if (items[i].kind == MarkupKind::open && items[i].partner && items[i].partner < all.end)
      range.end = std::max(range.end, *items[i].partner + 1);
  for (size_t i = last + 1; i < range.end; ++i)
    if (items[i].kind == MarkupKind::close && items[i].partner >= all.begin && items[i].partner)
      range.begin = std::min(range.begin, *items[i].partner);
  return range;
}

// Writes a segment's text, and the marks in it, from one item after the other.
class SegmentAssembler {
 public:
  SegmentAssembler(const MarkupStretch& stretch, WhiteSpace white_space)
      : stretch_(stretch), collapsed_(white_space == WhiteSpace::collapsed) {}

  void add(const MarkupItem& item, bool paired) {
    if (item.kind == MarkupKind::text) return add_text(stretch_.bytes_of(item));
    if (item.kind == MarkupKind::reference) return put(stretch_.shown_of(item));
    if (item.kind == MarkupKind::open && paired) return open(item);
    if (item.kind == MarkupKind::close && paired) return close(item);
    if (item.kind == MarkupKind::fixed && !stretch_.shown_of(item).empty()) return fixed(item);
    if (item.kind == MarkupKind::point && !stretch_.shown_of(item).empty()) return line_break(item);
    point(stretch_.bytes_of(item), item.kind == MarkupKind::open    ? Half::open
                                   : item.kind == MarkupKind::close ? Half::close
                                                                    : Half::none);
  }

  DocumentSegment finish() && {
    end_without_white_space();
    return {.text = std::move(text_), .original = {}, .marks = std::move(marks_)};
  }

 private:
  void add_text(std::string_view text) {
    const auto size = static_cast<int32_t>(text.size());
    for (int32_t next = 0, begin = 0; next < size; begin = next) {
      U8_FWD_1(text.data(), next, size);
      const std::string_view character(text.data() + begin, static_cast<size_t>(next - begin));
      put(character);
    }
  }

  // White space that is not shown goes to the tag beside it, or is dropped.
  void put(std::string_view shown) {
    const bool white = is_white_space(shown);
    if (white && text_.empty()) return add_to_tag(shown);
    if (white && collapsed_ && shown.find_first_not_of(" \t\n\f\r") == shown.npos) {
      if (pending_ || text_.ends_with(' ')) return add_to_tag(shown);
      pending_ = true;
      beside_ = no_tag;
      return;
    }
    const bool punctuation = std::string_view(".,;:!?)").find(shown) != std::string_view::npos;
    if (std::exchange(pending_before_words_, false) && punctuation) pending_ = false;
    put_pending();
    if (punctuation) attach_space();
    append(shown, white);
    beside_ = no_tag;
  }

  void put_pending() {
    if (std::exchange(pending_, false)) append(" ", true);
  }

  // Spans begin with a word.
  void append(std::string_view shown, bool white) {
    const size_t before = text_.size();
    text_ += shown;
    for (size_t i = marks_.size(); white && i-- > 0;) {
      if (marks_[i].kind != DocumentMark::Kind::span || marks_[i].place != TextSpan{before, unclosed}) break;
      marks_[i].place.begin = text_.size();
    }
  }

  // "Use <code>ls</code>." reads "Use.", not "Use .".
  void attach_space() {
    if (marks_.empty() || marks_.back().kind != DocumentMark::Kind::point || !text_.ends_with(' ')) return;
    if (marks_.back().place.begin != text_.size() || beside_ != marks_.size() - 1) return;
    if (!spans_.empty() && marks_[spans_.back()].place.begin == text_.size()) return;
    if (marks_.size() > 1 &&
        std::max(marks_[marks_.size() - 2].place.begin, end_of(marks_.size() - 2)) == text_.size())
      return;
    text_.pop_back();
    marks_.back().open.insert(0, " ");
    marks_.back().place = {text_.size(), text_.size()};
  }

  size_t end_of(size_t mark) const { return marks_[mark].place.end == unclosed ? 0 : marks_[mark].place.end; }

  void open(const MarkupItem& item) {
    if (!text_.empty()) put_pending();
    spans_.push_back(marks_.size());
    marks_.push_back({.place = {text_.size(), unclosed},
                      .depth = spans_.size() - 1,
                      .open = std::string(stretch_.bytes_of(item))});
    beside_ = marks_.size() - 1;
    beside_close_ = false;
  }

  void close(const MarkupItem& item) {
    const size_t span = spans_.back();
    spans_.pop_back();
    marks_[span].place.end = end_of_words(text_, marks_[span].place.begin);
    marks_[span].close = item.written ? stretch_.written[*item.written] : stretch_.bytes_of(item);
    const size_t first = clamp(span, marks_[span].place.end);
    // "<a>the <img></a>." reads "the.", not "the .".
    if (first < marks_.size() && collapsed_) {
      marks_[first].open.insert(0, text_.substr(marks_[span].place.end));
      text_.resize(marks_[span].place.end);
      pending_ = pending_before_words_ = true;
    }
    beside_ = span;
    beside_close_ = true;
  }

  void point(std::string_view bytes, Half half) {
    if (!text_.empty()) put_pending();
    // Adjacent ones are merged, so that they stay in order.
    if (beside_ < marks_.size() && beside_ + 1 == marks_.size() &&
        marks_[beside_].kind == DocumentMark::Kind::point && marks_[beside_].half == Half::none &&
        half == Half::none) {
      marks_[beside_].open += bytes;
      return;
    }
    marks_.push_back({.kind = DocumentMark::Kind::point,
                      .place = {text_.size(), text_.size()},
                      .depth = spans_.size(),
                      .half = half,
                      .open = std::string(bytes)});
    beside_ = marks_.size() - 1;
    beside_close_ = false;
  }

  // Never merged with others.
  void line_break(const MarkupItem& item) {
    if (!text_.ends_with(' ')) pending_ = true;
    beside_ = no_tag;
    point(stretch_.bytes_of(item), Half::none);
    beside_ = no_tag;
  }

  void fixed(const MarkupItem& item) {
    if (!text_.empty()) put_pending();
    const size_t begin = text_.size();
    text_ += stretch_.shown_of(item);
    marks_.push_back({.kind = DocumentMark::Kind::fixed,
                      .place = {begin, text_.size()},
                      .depth = spans_.size(),
                      .open = std::string(stretch_.bytes_of(item))});
    pending_before_words_ = false;
    beside_ = no_tag;
  }

  void add_to_tag(std::string_view bytes) {
    if (beside_ == no_tag) return;
    (beside_close_ ? marks_[beside_].close : marks_[beside_].open) += bytes;
  }

  // Moves marks after `mark` that begin or end after `end` to `end`. Returns the first one of them.
  size_t clamp(size_t mark, size_t end) {
    size_t first = marks_.size();
    for (size_t i = marks_.size(); i-- > mark && marks_[i].place.end > end;) {
      if (marks_[i].place.begin > end) first = i;
      marks_[i].place = {std::min(marks_[i].place.begin, end), end};
    }
    return first;
  }

  void end_without_white_space() {
    const size_t end = end_of_words(text_, 0);
    const std::string white = text_.substr(end);
    text_.resize(end);
    if (white.empty()) return;
    const size_t first = clamp(0, end);
    if (first < marks_.size())
      marks_[first].open.insert(0, white);
    else
      add_to_tag(white);
  }

  static constexpr size_t unclosed = static_cast<size_t>(-1), no_tag = unclosed;

  const MarkupStretch& stretch_;
  const bool collapsed_;
  std::string text_;
  std::vector<DocumentMark> marks_;
  std::vector<size_t> spans_;          // open ones
  bool pending_ = false;               // white space that becomes one space before the next word
  bool pending_before_words_ = false;  // but not before punctuation
  size_t beside_ = no_tag;             // the mark whose tag was added last, ignoring such space
  bool beside_close_ = false;          // its closing tag
};

}  // namespace

std::string_view MarkupStretch::bytes_of(const MarkupItem& item) const { return item.bytes.of(bytes); }

std::string_view MarkupStretch::shown_of(const MarkupItem& item) const { return item.shown.of(shown); }

void MarkupStretch::clear() {
  bytes.clear();
  shown.clear();
  items.clear();
  written.clear();
}

std::string_view text_of(const MarkupStretch& stretch, const MarkupItem& item) {
  if (item.kind == MarkupKind::text) return stretch.bytes_of(item);
  return item.kind == MarkupKind::reference ? stretch.shown_of(item) : std::string_view();
}

std::optional<PlacedSegment> segment_in(const MarkupStretch& stretch, ItemRange all,
                                        const StretchRules& rules) {
  const std::vector<MarkupItem>& items = stretch.items;
  const auto letters = [&](const MarkupItem& item) { return has_letters(text_of(stretch, item)); };
  if (std::ranges::none_of(std::span(items).subspan(all.begin, all.end - all.begin), letters))
    return std::nullopt;
  const ItemRange range = range_of_words(stretch, all, rules.tags_around);
  SegmentAssembler assembler(stretch, rules.white_space);
  for (size_t i = range.begin; i < range.end; ++i)
    assembler.add(items[i], items[i].partner >= range.begin && items[i].partner < range.end);
  TextSpan place = {items[range.begin].bytes.begin, items[range.end - 1].bytes.end};
  if (items[range.begin].kind == MarkupKind::text)
    place.begin += trimmed(stretch.bytes_of(items[range.begin])).begin;
  if (const MarkupItem& last = items[range.end - 1]; last.kind == MarkupKind::text)
    place.end = last.bytes.begin + trimmed(stretch.bytes_of(last)).end;
  DocumentSegment segment = std::move(assembler).finish();
  segment.original = place.of(stretch.bytes);
  return PlacedSegment{.place = place, .segment = std::move(segment)};
}

}  // namespace dragoman::internal
