#include "document/xml/marked_text.h"

#include <algorithm>
#include <map>
#include <utility>

namespace dragoman::internal {
namespace {

using ItemKind = ParagraphItem::Kind;

constexpr size_t none = SIZE_MAX;

// The format of the words directly inside each tag, in the order of the opening tags, the first for those outside all.
std::vector<size_t> base_formats(std::span<const ParagraphItem> items) {
  std::vector<std::map<size_t, size_t>> sizes(1);  // of text, by format
  std::vector<size_t> formats = {none}, open = {0};
  for (const ParagraphItem& item : items) {
    if (item.kind == ItemKind::open) {
      open.push_back(sizes.size());
      sizes.emplace_back();
      formats.push_back(none);
    } else if (item.kind == ItemKind::close) {
      open.pop_back();
    } else if (item.kind == ItemKind::text && item.bytes.empty()) {
      for (const size_t tag : open)
        if (formats[tag] == none)
          formats[tag] = item.format;  // for tags that only have words inside other tags
      sizes[open.back()][item.format] += item.text.size();
    }
  }
  for (size_t tag = 0; tag < sizes.size(); ++tag) {
    const auto commonest =
        std::ranges::max_element(sizes[tag], {}, [](const auto& size) { return size.second; });
    if (commonest != sizes[tag].end()) formats[tag] = commonest->first;
    if (formats[tag] == none) formats[tag] = 0;
  }
  return formats;
}

class MarkedText {
 public:
  MarkedText(std::span<const ParagraphItem> items, std::span<const RunFormat> formats, bool collapsed)
      : formats_(formats), collapsed_(collapsed), base_(base_formats(items)) {
    set_format(segment_, base_[0]);
    for (const ParagraphItem& item : items) add(item);
  }

  DocumentSegment segment() && { return std::move(segment_); }

 private:
  // A tag that is open, or the segment itself.
  struct Level {
    size_t mark = 0, tag = 0;
    TextSpan words = {none, 0};
    // The span of the words of another format that came last, and the number of marks when they came.
    size_t span = none, format = 0, marks = 0;
  };

  template <typename Formatted>
  void set_format(Formatted& to, size_t format) const {
    to.text_open = formats_[format].open;
    to.text_close = formats_[format].close;
  }

  void add(const ParagraphItem& item) {
    const bool behind_point = std::exchange(behind_point_, item.kind == ItemKind::point);
    if (item.kind == ItemKind::text) return text(item, behind_point);
    if (item.kind == ItemKind::fixed) return fixed(item);
    if (item.kind == ItemKind::close) return close(item.bytes);
    const size_t at = segment_.text.size();
    if (behind_point && behind_point_) {  // merged into one they stay in order
      segment_.marks.back().open += item.bytes;
      return;
    }
    segment_.marks.push_back(
        {.kind = item.kind == ItemKind::open ? DocumentMark::Kind::span : DocumentMark::Kind::point,
         .place = {at, at},
         .depth = levels_.size() - 1,
         .open = item.bytes});
    if (item.kind != ItemKind::open) return;
    levels_.back().span = none;
    levels_.push_back({.mark = segment_.marks.size() - 1, .tag = ++tags_});
  }

  void text(const ParagraphItem& item, bool behind_point) {
    const size_t white = behind_point ? set_point_apart(item) : 0;
    const size_t before = segment_.text.size();
    append(std::string_view(item.text).substr(white));
    if (!item.bytes.empty()) return;  // a symbol has the format of the words around it
    const TextSpan words = trimmed(std::string_view(segment_.text).substr(before));
    if (words.begin == words.end) return;
    const TextSpan place = {before + words.begin, before + words.end};
    Level& level = levels_.back();
    level.words = {std::min(level.words.begin, place.begin), place.end};
    if (item.format == base_[level.tag]) {
      level.span = none;
    } else if (level.span != none && level.format == item.format) {
      segment_.marks[level.span].place.end = place.end;
      for (size_t i = level.marks; i < segment_.marks.size(); ++i) ++segment_.marks[i].depth;
    } else {
      level.span = segment_.marks.size();
      level.format = item.format;
      segment_.marks.push_back({.place = place, .depth = levels_.size() - 1, .open = {}});
      set_format(segment_.marks.back(), item.format);
    }
    level.marks = segment_.marks.size();
  }

  void fixed(const ParagraphItem& item) {
    const TextSpan place = {segment_.text.size(), segment_.text.size() + item.text.size()};
    segment_.text += item.text;
    segment_.marks.push_back(
        {.kind = DocumentMark::Kind::fixed, .place = place, .depth = levels_.size() - 1, .open = item.bytes});
    Level& level = levels_.back();
    level.words = {std::min(level.words.begin, place.begin), place.end};
    level.span = none;
  }

  // A point may be an image or a number, with white space on both sides. The text has one of them: "See [image] here"
  // reads "See here", and "See [image]." reads "See.". Returns the size of the item's white space that was added.
  size_t set_point_apart(const ParagraphItem& item) {
    std::string& text = segment_.text;
    DocumentMark& point = segment_.marks.back();
    const RunFormat& format = formats_[item.format];
    const size_t white = std::min(item.text.find_first_not_of(" \t\r\n"), item.text.size());
    if (!text.ends_with(' ') || !item.bytes.empty()) return 0;
    if (white > 0) {
      point.open += format.open + item.text.substr(0, white) + format.close;
      behind_point_ = white == item.text.size();
      return white;
    }
    const bool is_only_mark = segment_.marks.size() < 2 || segment_.marks.end()[-2].place.begin < text.size();
    if (!is_only_mark || std::string_view(".,;:!?)").find(item.text[0]) == std::string_view::npos) return 0;
    text.pop_back();
    point.place = {text.size(), text.size()};
    point.open.insert(0, format.open + " " + format.close);
    return 0;
  }

  void append(std::string_view text) {
    if (!collapsed_) {
      segment_.text += text;
      return;
    }
    append_collapsed(segment_.text, text);
  }

  void close(const std::string& bytes) {
    const Level level = levels_.back();
    levels_.pop_back();
    DocumentMark& mark = segment_.marks[level.mark];
    if (level.words.begin == none) return close_empty(level.mark, bytes);
    mark.place = level.words;
    mark.close = bytes;
    set_format(mark, base_[level.tag]);
    // White space beside a tag belongs outside, and so do marks in it.
    for (size_t i = level.mark + 1; i < segment_.marks.size(); ++i) {
      TextSpan& place = segment_.marks[i].place;
      place = {std::clamp(place.begin, level.words.begin, level.words.end),
               std::clamp(place.end, level.words.begin, level.words.end)};
    }
    TextSpan& around = levels_.back().words;
    around = {std::min(around.begin, level.words.begin), level.words.end};
  }

  // A pair of tags without words is a point, with what is inside it.
  void close_empty(size_t index, const std::string& bytes) {
    DocumentMark& mark = segment_.marks[index];
    mark.kind = DocumentMark::Kind::point;
    for (size_t i = index + 1; i < segment_.marks.size(); ++i) mark.open += segment_.marks[i].open;
    mark.open += bytes;
    segment_.marks.resize(index + 1);
  }

  std::span<const RunFormat> formats_;
  bool collapsed_;
  std::vector<size_t> base_;
  size_t tags_ = 0;
  bool behind_point_ = false;  // nothing has followed it
  std::vector<Level> levels_ = {{}};
  DocumentSegment segment_;
};

}  // namespace

DocumentSegment marked_text(std::span<const ParagraphItem> items, std::span<const RunFormat> formats,
                            bool collapsed) {
  return MarkedText(items, formats, collapsed).segment();
}

}  // namespace dragoman::internal
