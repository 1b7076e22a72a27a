#include "document/markdown/segments.h"

#include <algorithm>
#include <utility>

#include "document/html/elements.h"
#include "document/markdown/text.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_images = 20;  // inside one another

// Where `close` ends after `at`, within the line; 0: nowhere.
size_t end_after(std::string_view text, std::string_view close, size_t at) {
  const size_t found = text.find(close, at);
  return found == text.npos ? 0 : found + close.size();
}

}  // namespace

void MarkdownSegments::add(const std::vector<MarkdownInline>& inlines, bool in_item) {
  deleted_ = false;
  open_.clear();
  images_ = opaque_depth_ = 0;
  for (size_t i = 0; i < inlines.size(); ++i) {
    const size_t end =
        inlines[i].kind == Kind::open_image && opaque_depth_ == 0 ? end_of_image(inlines, i) : i;
    const bool has_label = end > i && !inlines[end].rewritten.empty();
    if (has_label)
      builder_.point(source_.substr(inlines[i].bytes.begin, inlines[end].bytes.end - inlines[i].bytes.begin));
    else
      add_inline(inlines, i, in_item);
    i = has_label ? end : i;
  }
  if (opaque_depth_ > 0) builder_.end_nested("");
}

size_t MarkdownSegments::end_of_image(const std::vector<MarkdownInline>& inlines, size_t begin) {
  size_t open = 0;
  for (size_t i = begin; i < inlines.size(); ++i) {
    open += inlines[i].kind == Kind::open_image ? 1 : 0;
    if (inlines[i].kind == Kind::close_image && --open == 0) return i;
  }
  return begin;
}

void MarkdownSegments::add_inline(const std::vector<MarkdownInline>& inlines, size_t i, bool in_item) {
  const MarkdownInline& item = inlines[i];
  std::string_view bytes = bytes_of(item);
  if (opaque_depth_ > 0 && item.kind != Kind::html) return builder_.border(bytes);
  switch (item.kind) {
    case Kind::text:
      if (is_line_of_dialect(inlines, i)) return builder_.border(bytes);
      if (const size_t kept = kept_at_beginning(inlines, i, in_item); kept > 0) {
        builder_.border(bytes.substr(0, kept));
        bytes.remove_prefix(kept);
      }
      return text(bytes, i + 1 == inlines.size());
    case Kind::reference:
      return builder_.text(bytes, item.decoded);
    case Kind::line_end:
      if (is_line_of_dialect(inlines, i - 1) || is_line_of_dialect(inlines, i + 1) ||
          kept_at_beginning(inlines, i + 1, false) > 0)
        return builder_.border(bytes);
      return builder_.text(bytes, " ");
    case Kind::hard_break:
      return line_break(bytes);
    case Kind::code:
      return builder_.fixed(bytes, item.decoded);
    case Kind::address:
      return builder_.fixed(bytes, bytes.substr(1, bytes.size() - 2));
    case Kind::html:
      return html(bytes);
    case Kind::open:
      open_.emplace_back();
      return builder_.open(bytes, item.name);
    case Kind::close:
      while (!open_.empty() && !open_.back().empty()) open_.pop_back();
      if (!open_.empty()) open_.pop_back();
      return builder_.close(bytes, item.name, item.rewritten);
    case Kind::open_image:
      return begin_image(bytes);
    case Kind::close_image:
      return end_image(bytes);
  }
}

// The size of a task's box at the beginning of a text, or of a footnote's label, which may begin every line.
size_t MarkdownSegments::kept_at_beginning(const std::vector<MarkdownInline>& inlines, size_t i,
                                           bool in_item) const {
  if (i >= inlines.size() || inlines[i].kind != Kind::text) return 0;
  const std::string_view bytes = bytes_of(inlines[i]);
  const bool is_box = bytes.starts_with("[ ] ") || bytes.starts_with("[x] ") || bytes.starts_with("[X] ");
  if (i == 0 && in_item && is_box) return 4;
  const bool begins_line =
      i == 0 || inlines[i - 1].kind == Kind::line_end || inlines[i - 1].kind == Kind::hard_break;
  return begins_line ? footnote_at(bytes) : 0;
}

// A line of markup without text: ":::note", "[!NOTE]", "[TOC]", "{% raw %}".
bool MarkdownSegments::is_line_of_dialect(const std::vector<MarkdownInline>& inlines, size_t i) const {
  if (i >= inlines.size() || inlines[i].kind != Kind::text) return false;
  if (i > 0 && inlines[i - 1].kind != Kind::line_end) return false;
  if (i + 1 < inlines.size() && inlines[i + 1].kind != Kind::line_end) return false;
  const std::string_view line = bytes_of(inlines[i]);
  return line.starts_with(":::") || line.starts_with("!!!") || line == "[TOC]" || line == "[[_TOC_]]" ||
         (line.starts_with("[!") && line.ends_with(']')) || (line.starts_with("{%") && line.ends_with("%}"));
}

void MarkdownSegments::text(std::string_view literal, bool ends_block) {
  for (size_t end = 0; !literal.empty();) {
    end = std::min(literal.find_first_of("~[{$", end), literal.size());
    const bool is_mark = end < literal.size() && dialect_mark(literal.substr(end), ends_block) > 0;
    if (end < literal.size() && !is_mark) {
      ++end;
      continue;
    }
    if (end > 0) builder_.text(literal.substr(0, end));
    literal.remove_prefix(end);
    if (literal.empty()) return;
    const std::string_view mark = literal.substr(0, dialect_mark(literal, ends_block));
    if (mark == "~~" && !std::exchange(deleted_, !deleted_))
      open(mark, mark);
    else if (mark == "~~")
      close(mark, mark);
    else if (mark.starts_with("{%"))
      builder_.border(mark);
    else if (mark.starts_with("[[") || mark.starts_with("$$"))
      builder_.fixed(mark, mark);
    else
      builder_.point(mark);
    literal.remove_prefix(mark.size());
    end = 0;
  }
}

// The size of the mark at the beginning of the text.
size_t MarkdownSegments::dialect_mark(std::string_view text, bool ends_block) {
  constexpr size_t longest = 200;
  const std::string_view near = text.substr(0, longest);
  if (text.starts_with("~~")) return 2;
  if (text.starts_with("[[")) return end_after(near, "]]", 2);
  if (text.starts_with("$$")) return end_after(near, "$$", 2);
  if (text.starts_with("{%")) return end_after(near, "%}", 2);
  if (text.starts_with("[^")) {
    const size_t end = end_after(near, "]", 2);
    return near.substr(0, end).find(' ') == near.npos ? end : 0;
  }
  const bool is_attribute = text.starts_with("{#") || text.starts_with("{.") || text.starts_with("{:");
  const size_t end = is_attribute && ends_block ? end_after(near, "}", 2) : 0;
  return end == text.size() ? end : 0;
}

// A line break ends a segment. Inside one of CommonMark's own pairs it keeps its place among the words instead: whether
// the halves of *one pair* on two lines are read as a pair depends on the words around both.
void MarkdownSegments::line_break(std::string_view bytes) {
  const bool in_pair = std::ranges::any_of(open_, [](const std::string& name) { return name.empty(); });
  if (!in_pair) return builder_.border(bytes);
  builder_.line_break(bytes);
}

void MarkdownSegments::html(std::string_view bytes) {
  const std::optional<HtmlToken> tag = HtmlLexer(bytes, true).next();
  if (opaque_depth_ > 0) {
    builder_.border(bytes);
    if (tag && tag->name == opaque_)
      opaque_depth_ =
          tag->kind == HtmlToken::Kind::end ? opaque_depth_ - 1 : opaque_depth_ + (tag->empty ? 0 : 1);
    if (opaque_depth_ == 0) builder_.end_nested("");
  } else if (!tag || tag->name.empty()) {
    builder_.point(bytes);
  } else if (tag->kind == HtmlToken::Kind::start) {
    html_start(*tag);
  } else if (html_element(tag->name).role == HtmlElement::Role::block) {
    builder_.border(bytes);
  } else {
    close(bytes, "<" + tag->name);
  }
}

void MarkdownSegments::html_start(const HtmlToken& tag) {
  const HtmlElement& element = html_element(tag.name);
  const bool has_content = element.content != HtmlElement::Content::none && !tag.empty;
  if (element.role == HtmlElement::Role::block || element.role == HtmlElement::Role::list)
    return builder_.border(tag.bytes);
  if (!has_content) return builder_.point(tag.bytes);
  if (element.role == HtmlElement::Role::inline_) return open(tag.bytes, "<" + tag.name);
  builder_.begin_nested();
  builder_.border(tag.bytes);
  opaque_ = tag.name;
  opaque_depth_ = 1;
}

void MarkdownSegments::open(std::string_view bytes, std::string_view name) {
  open_.emplace_back(name);
  builder_.open(bytes, name);
}

void MarkdownSegments::close(std::string_view bytes, std::string_view name) {
  constexpr size_t max_compared = 100;
  for (size_t i = open_.size(); i-- > open_.size() - std::min(open_.size(), max_compared);) {
    if (open_[i].empty()) break;
    if (open_[i] != name) continue;
    open_.resize(i);
    return builder_.close(bytes, name);
  }
  builder_.point(bytes);
}

// An image is a point, and its alternative text a segment.
void MarkdownSegments::begin_image(std::string_view bytes) {
  if (images_++ >= max_images) return builder_.point(bytes);
  builder_.begin_nested();
  builder_.border(bytes);
}

void MarkdownSegments::end_image(std::string_view bytes) {
  if (--images_ >= max_images) return builder_.point(bytes);
  builder_.border(bytes);
  builder_.end_nested();
}

}  // namespace dragoman::internal
