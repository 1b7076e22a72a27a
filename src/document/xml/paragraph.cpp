#include "document/xml/paragraph.h"

#include <algorithm>

#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using ItemKind = ParagraphItem::Kind;

constexpr size_t deepest_tags = 64;  // more are borders

}  // namespace

size_t Paragraph::format(const std::string& key, RunFormat format) {
  const auto [place, is_new] = format_numbers_.try_emplace(key, formats_.size());
  if (is_new) formats_.push_back(std::move(format));
  return place->second;
}

void Paragraph::text(std::string text, size_t format) {
  if (!text.empty()) items_.push_back({.text = std::move(text), .format = format});
}

void Paragraph::symbol(std::string bytes, std::string text) {
  items_.push_back({.bytes = std::move(bytes), .text = std::move(text)});
}

void Paragraph::open(std::string bytes, std::string name) {
  if (open_.size() == deepest_tags) tear();
  open_.push_back(items_.size());
  items_.push_back({.kind = ItemKind::open, .bytes = std::move(bytes), .text = std::move(name)});
}

void Paragraph::close(std::string bytes, std::string name) {
  if (open_.empty() || items_[open_.back()].text != name) return border(std::move(bytes));
  const size_t partner = open_.back();
  open_.pop_back();
  items_[partner].partner = items_.size();
  items_.push_back(
      {.kind = ItemKind::close, .bytes = std::move(bytes), .text = std::move(name), .partner = partner});
}

void Paragraph::point(std::string bytes) {
  if (!items_.empty() && items_.back().kind == ItemKind::open)
    items_.back().bytes += bytes;
  else
    items_.push_back({.kind = ItemKind::point, .bytes = std::move(bytes)});
}

void Paragraph::fixed(std::string bytes, std::string_view words) {
  std::string shown = fixed_words(words);
  if (shown.empty()) return point(std::move(bytes));
  items_.push_back({.kind = ItemKind::fixed, .bytes = std::move(bytes), .text = std::move(shown)});
}

void Paragraph::border(std::string bytes) {
  tear();
  items_.push_back({.kind = ItemKind::border, .bytes = std::move(bytes)});
}

// All open tags are borders.
void Paragraph::tear() {
  for (const size_t item : open_) items_[item].kind = ItemKind::border;
  open_.clear();
}

std::string Paragraph::words() const {
  std::string words;
  for (const ParagraphItem& item : items_)
    if (item.kind == ItemKind::text) words += item.text;
  return words;
}

DocumentBlock Paragraph::block(std::string raw) && {
  tear();
  size_t begin = 0;
  for (size_t i = 0; i <= items_.size(); ++i) {
    if (i < items_.size() && items_[i].kind != ItemKind::border) continue;
    add_segment(begin, i);
    keep(i, std::min(i + 1, items_.size()));
    begin = i + 1;
  }
  block_.raw = std::move(raw);
  return std::move(block_);
}

std::string Paragraph::written(const ParagraphItem& item) const {
  if (item.kind != ItemKind::text || !item.bytes.empty()) return item.bytes;
  const RunFormat& format = formats_[item.format];
  return format.open + settings_.escape(item.text) + format.close;
}

void Paragraph::keep(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) block_.kept.back() += written(items_[i]);
}

// Of items without borders.
void Paragraph::add_segment(size_t begin, size_t end) {
  size_t first = end, last = begin;
  bool letters = false;
  for (size_t i = begin; i < end; ++i) {
    const ParagraphItem& item = items_[i];
    if (item.kind != ItemKind::fixed && (item.kind != ItemKind::text || is_white_space(item.text))) continue;
    first = std::min(first, i);
    last = i;
    letters = letters || (item.kind == ItemKind::text && has_letters(item.text));
  }
  if (!letters) return keep(begin, end);
  // A tag whose partner is among the words.
  const auto marks_words = [&](const ParagraphItem& item) {
    return item.partner > first && item.partner < last;
  };
  size_t from = begin, to = end;
  while (from < first && !marks_words(items_[from])) ++from;
  while (to > last + 1 && !marks_words(items_[to - 1])) --to;
  keep(begin, from);
  std::string behind = separate_edges(from, first, last, to);
  const std::span<const ParagraphItem> items = std::span(items_).subspan(from, to - from);
  DocumentSegment segment = marked_text(items, formats_, settings_.collapsed);
  segment.escape = settings_.escape;
  for (const ParagraphItem& item : items) segment.original += written(item);
  block_.segments.push_back(std::move(segment));
  block_.kept.push_back(std::move(behind));
  keep(to, end);
}

// White space before the first word and after the last becomes part of the tag beside it. If there is
// none it is kept: returns what follows the segment.
std::string Paragraph::separate_edges(size_t begin, size_t first, size_t last, size_t end) {
  for (size_t i = begin; i < end; ++i)
    if (items_[i].kind == ItemKind::text && (i < first || i > last))
      items_[i] = {.kind = ItemKind::point, .bytes = written(items_[i])};
  const auto apart = [&](size_t item, size_t from, size_t size) {
    ParagraphItem space = {.text = items_[item].text.substr(from, size), .format = items_[item].format};
    return space.text.empty() ? "" : written(space);
  };
  const std::string behind = apart(last, trimmed(items_[last].text).end, std::string::npos);
  items_[last].text.erase(trimmed(items_[last].text).end);
  const size_t lead = trimmed(items_[first].text).begin;
  (first == begin ? block_.kept.back() : items_[first - 1].bytes) += apart(first, 0, lead);
  items_[first].text.erase(0, lead);
  if (last + 1 == end) return behind;
  items_[last + 1].bytes.insert(0, behind);
  return "";
}

}  // namespace dragoman::internal
