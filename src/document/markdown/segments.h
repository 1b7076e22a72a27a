// Segments from the inline markup of Markdown, with the marks of common dialects: ~~deleted~~, [^1], [[page]], {#id}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/html/tokens.h"
#include "document/markdown/inlines.h"
#include "document/segments/builder.h"

namespace dragoman::internal {

class MarkdownSegments {
 public:
  MarkdownSegments(std::string_view source, SegmentBuilder& builder) : source_(source), builder_(builder) {}

  // A block, with borders on both sides of it.
  void add(const std::vector<MarkdownInline>& inlines, bool in_item);

 private:
  using Kind = MarkdownInline::Kind;

  static size_t end_of_image(const std::vector<MarkdownInline>& inlines, size_t begin);
  void add_inline(const std::vector<MarkdownInline>& inlines, size_t i, bool in_item);
  void text(std::string_view literal, bool ends_block);
  size_t dialect_mark(std::string_view text, bool ends_block);
  void line_break(std::string_view bytes);
  void html(std::string_view bytes);
  void html_start(const HtmlToken& tag);
  // Of a pair that CommonMark does not know: it must not cross the others.
  void open(std::string_view bytes, std::string_view name);
  void close(std::string_view bytes, std::string_view name);
  void begin_image(std::string_view bytes);
  void end_image(std::string_view bytes);
  std::string_view bytes_of(const MarkdownInline& item) const { return item.bytes.of(source_); }
  size_t kept_at_beginning(const std::vector<MarkdownInline>& inlines, size_t i, bool in_item) const;
  bool is_line_of_dialect(const std::vector<MarkdownInline>& inlines, size_t i) const;

  const std::string_view source_;
  SegmentBuilder& builder_;
  bool deleted_ = false;           // within ~~
  std::vector<std::string> open_;  // names of such pairs; empty: CommonMark's own
  size_t images_ = 0, opaque_depth_ = 0;
  std::string opaque_;  // the HTML element that is not translated
};

}  // namespace dragoman::internal
