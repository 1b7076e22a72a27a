#include <algorithm>

#include "base/error.h"
#include "document/markdown/blocks.h"
#include "document/markdown/composer.h"
#include "document/markdown/inlines.h"
#include "document/markdown/segments.h"
#include "document/markdown/text.h"
#include "document/readers.h"
#include "document/segments/builder.h"

namespace dragoman::internal {
namespace {

// cmark needs a hundred times as much memory, and time that grows with the square of a paragraph's brackets.
constexpr size_t max_markdown_bytes = size_t{32} << 20, max_brackets = 10'000;

void check_bounds(std::string_view bytes, const DocumentSettings& settings) {
  if (bytes.size() > max_markdown_bytes)
    throw Error("{}: {} MiB of Markdown, the limit is {}: split the file", settings.name, bytes.size() >> 20,
                max_markdown_bytes >> 20);
  size_t brackets = 0, line = 1;
  bool blank = true;
  for (const char c : bytes) {
    brackets += c == '[' ? 1 : 0;
    if (c == '\n') {
      if (blank) brackets = 0;
      ++line;
      blank = true;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      blank = false;
    }
    if (brackets > max_brackets)
      throw Error("{}: line {}: more than {} brackets without an empty line: split the paragraph",
                  settings.name, line, max_brackets);
  }
}

// Whether only the end of a heading or cell is left of the block.
bool is_end(std::string_view source, size_t at, const MarkdownBlock& block) {
  at = std::min(source.find_first_not_of(" \t", at), source.size());
  if (at == source.size() || source[at] == '\n' || source[at] == '\r') return true;
  if (block.in_cell) return source[at] == '|';
  return source[at] == '#' && cmark_node_get_type(block.node) == CMARK_NODE_HEADING;
}

using MarkdownEscape = std::string (*)(std::string_view);
MarkdownEscape escape_of(const MarkdownBlock& block, bool after_definitions) {
  if (block.in_cell) return block.begins_line ? escape_markdown_first_cell : escape_markdown_cell;
  if (block.has_hyphens_under) return escape_markdown_over_hyphens;
  return after_definitions ? escape_markdown_after_definitions : escape_markdown;
}

}  // namespace

Document read_markdown(std::string_view bytes, const DocumentSettings& settings) {
  check_utf8(bytes, settings);
  check_bounds(bytes, settings);
  size_t kept = bytes.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  kept += front_matter(bytes.substr(kept));
  SegmentBuilder builder(
      {.escape = escape_markdown, .compose = compose_markdown, .rules = {.tags_around = true}});
  builder.border(bytes.substr(0, kept));
  const std::string_view source = bytes.substr(kept);

  const MarkdownBlocks blocks(source);
  HtmlReferences references;
  MarkdownInlines inlines(source, references);
  MarkdownSegments segments(source, builder);
  size_t at = 0;
  for (const MarkdownBlock& block : blocks.all()) {
    std::optional<std::vector<MarkdownInline>> found;
    for (size_t i = 0; i < block.begins.size() && !found && block.node != nullptr; ++i) {
      found = inlines.walk(block.node, block.begins[i], block.quotes, block.before);
      if (found && (found->empty() || !is_end(source, found->back().bytes.end, block))) found.reset();
    }
    if (!found || found->front().bytes.begin < at) continue;
    builder.border(source.substr(at, found->front().bytes.begin - at));
    builder.set_escape(escape_of(block, found->front().bytes.begin > block.begins.front()));
    segments.add(*found, block.in_item);
    at = found->back().bytes.end;
  }
  builder.border(source.substr(at));
  return std::move(builder).finish();
}

}  // namespace dragoman::internal
